// Times an ONNX model in onnxruntime with one thread: node onnxruntime_time.js model.onnx input.f32 dims… -> median microseconds.
// Needs: npm install --ignore-scripts onnxruntime-node (NODE_PATH says where).
'use strict';
const fs = require('fs');
const ort = require('onnxruntime-node');

async function main() {
    const [model, file, ...dims] = process.argv.slice(2);
    const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1 });
    const raw = fs.readFileSync(file);
    const data = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length));
    const feeds = { [session.inputNames[0]]: new ort.Tensor('float32', data, dims.map(Number)) };
    const times = [];
    const end = process.hrtime.bigint() + 2000000000n;
    let first;
    while (process.hrtime.bigint() < end) {
        const t = process.hrtime.bigint();
        const out = await session.run(feeds);
        times.push(Number(process.hrtime.bigint() - t) / 1000);
        first = first || Array.from(out[session.outputNames[0]].data);
    }
    times.sort((a, b) => a - b);
    process.stdout.write(times[times.length >> 1].toFixed(1) + ' ' + first.slice(0, 4).map(x => x.toFixed(5)).join(' ') + '\n');
}

main();
