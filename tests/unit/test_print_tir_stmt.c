/* test_print_tir_stmt.c: statements, loops and blocks as text, and back. */
#include "script_ir.h"

/* ---- statements ---- */

static void heads_are_flat_at_the_end_of_a_suite_and_a_with_before_it(void **state)
{
    static const struct { enum tg_kind kind; const char *flat, *with; } cases[] = {
        { TG_LET_STMT,
          "        x: T.int32 = s + 1\n        A[0] =", "        with T.LetStmt(s + 1) as x:\n            A[0] =" },
        { TG_ALLOCATE,
          "        p = T.allocate([4, 16], \"int8\", \"global.workspace\", annotations={\"alignment\": 16})\n        "
          "A[0] =",
          "        with T.allocate([4, 16], \"int8\", \"global.workspace\", annotations={\"alignment\": 16}) as p:\n   "
          "         A[0] =" },
        { TG_ALLOC_CONST,
          "        w = T.allocate_const(metadata[\"runtime.NDArray\"][0], \"float32\", [2, 3])\n        A[0] =",
          "        with T.allocate_const(metadata[\"runtime.NDArray\"][0], \"float32\", [2, 3]) as w:\n            "
          "A[0] =" },
        { TG_DECL_BUFFER,
          "        V = T.decl_buffer((2, 4), \"int32\", data=A.data, strides=(4, 1), elem_offset=0, align=16, "
          "offset_factor=4, buffer_type=\"auto\")\n        A[0] =",
          "        with T.decl_buffer((2, 4), \"int32\", data=A.data, strides=(4, 1), elem_offset=0, align=16, "
          "offset_factor=4, buffer_type=\"auto\") as V:\n            A[0] =" },
        { TG_ATTR, "        T.attr(A.data, \"pragma_unroll_explicit\", 1)\n        A[0] =",
          "        with T.attr(A.data, \"pragma_unroll_explicit\", 1):\n            A[0] =" },
        { TG_ASSERT, "        assert s < 8, \"s is \\\"too\\\" large\"\n        A[0] =",
          "        with T.Assert(s < 8, \"s is \\\"too\\\" large\"):\n            A[0] =" },
    };
    maker k = make(state);
    const tg_node *body = put(&k, k.a, 0, f32(&k, 1)), *after = put(&k, k.a, 1, f32(&k, 2));
    for (size_t i = 0; i < TG_COUNT(cases); ++i) {
        const tg_node *head = heads(&k, cases[i].kind, body);
        assert_holds(text_of_body(&k, head), cases[i].flat);
        assert_holds(text_of_body(&k, tg_seq(k.cx, 2, (const tg_node *[]){ head, after })), cases[i].with);
        text_of_body(&k, tg_seq(k.cx, 2, (const tg_node *[]){ after, head }));
        text_of_body(&k, heads(&k, cases[i].kind, tg_nop(k.cx)));
        text_of_body(&k, tg_seq(k.cx, 2, (const tg_node *[]){ heads(&k, cases[i].kind, tg_nop(k.cx)), after }));
        for (size_t j = 0; j < TG_COUNT(cases); ++j)
            text_of_body(&k, heads(&k, cases[j].kind, head));
    }
}

static void an_allocation_around_its_buffer_is_one_declaration(void **state)
{
    maker k = make(state);
    tg_buffer *b = tg_buffer_new(k.cx, tg_intern_z(k.cx, "t"), TG_FLOAT32, 1, (const int64_t[]){ 16 }, TG_INT32);
    tg_alloc_info *info = TG_NEW(k.cx, tg_alloc_info);
    *info = (tg_alloc_info){ .var = b->data, .dtype = b->dtype, .scope = b->scope };
    const tg_node *use =
        tg_evaluate(k.cx, tg_call(k.cx, "call_extern", tg_void(k.cx), 2,
                                  (const tg_node *[]){ tg_strz(k.cx, "f"), tg_var_ref(k.cx, b->data) }));
    const tg_node *decl = tg_node_new(k.cx, TG_DECL_BUFFER, TG_NOWHERE, NULL, b, 1, &use);
    const tg_node *alloc =
        tg_node_new(k.cx, TG_ALLOCATE, TG_NOWHERE, NULL, info, 2, (const tg_node *[]){ b->shape[0], decl });
    assert_holds(text_of_body(&k, alloc),
                 "        t = T.decl_buffer((16,))\n        T.call_extern(\"void\", \"f\", t.data)\n");
    assert_holds(text_of_body(&k, tg_seq(k.cx, 2, (const tg_node *[]){ alloc, put(&k, k.a, 0, f32(&k, 1)) })),
                 "        with T.decl_buffer((16,)) as t:\n");
    const tg_node *other =
        tg_node_new(k.cx, TG_ALLOCATE, TG_NOWHERE, NULL, info, 2, (const tg_node *[]){ i32(&k, 32), decl });
    assert_holds(text_of_body(&k, other),
                 "        t = T.allocate([32], \"float32\", \"global\")\n        t_1 = T.decl_buffer((16,), data=t)\n");
}

static void pointers_of_unusual_types_say_so(void **state)
{
    maker k = make(state);
    tg_alloc_info *info = TG_NEW(k.cx, tg_alloc_info);
    *info = (tg_alloc_info){ .var = tg_var_new(k.cx, tg_intern_z(k.cx, "p"), tg_ptr(k.cx, TG_INT8, NULL)),
                             .dtype = TG_FLOAT32,
                             .scope = tg_intern_z(k.cx, "local") };
    const tg_node *alloc =
        tg_node_new(k.cx, TG_ALLOCATE, TG_NOWHERE, NULL, info, 2, (const tg_node *[]){ i32(&k, 4), tg_nop(k.cx) });
    assert_holds(text_of_body(&k, alloc), "p: T.handle(\"int8\") = T.allocate([4], \"float32\", \"local\")");
    const tg_type *types[] = { tg_ptr(k.cx, TG_HANDLE, NULL), tg_ptr(k.cx, TG_INT8, NULL),
                               tg_ptr(k.cx, TG_INT8, tg_intern_z(k.cx, "global")) };
    const char *texts[] = { "q: T.handle = ", "q: T.handle(\"int8\") = ", "q: T.handle(\"int8\", \"global\") = " };
    const tg_node *a = at(&k, k.a, 0), *value = tg_call1(k.cx, "address_of", a);
    for (size_t i = 0; i < TG_COUNT(types); ++i) {
        const tg_node *let = tg_let_stmt(k.cx, tg_var_new(k.cx, tg_intern_z(k.cx, "q"), types[i]), value, tg_nop(k.cx));
        assert_holds(text_of_body(&k, let), texts[i]);
        text_of_body(&k, tg_seq(k.cx, 2, (const tg_node *[]){ let, put(&k, k.a, 0, a) }));
    }
}

static void loops_of_all_kinds_keep_bounds_and_annotations(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const tg_node *s = scalar(&k), *body = put(&k, k.a, 0, f32(&k, 1)), *zero = i32(&k, 0);
    const tg_value *hint = tg_v_dict(cx, 1, (const tg_name *[]){ tg_intern_z(cx, "pragma_auto_unroll_max_step") },
                                     (const tg_value *[]){ tg_v_int(cx, 16) });
    const tg_node *lz = tg_int(cx, TG_INT64, 0), *sum0 = tg_bin(cx, TG_ADD, zero, s);
    const struct { const tg_node *n; const char *text; } cases[] = {
        { loop(&k, TG_FOR_SERIAL, "i", zero, i32(&k, 8), NULL, body), "for i in range(8):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", i32(&k, 2), i32(&k, 6), NULL, body), "for i in range(2, 8):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", s, tg_bin(cx, TG_SUB, i32(&k, 5), s), NULL, body),
          "for i in range(s, s + (5 - s)):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", i32(&k, 2), s, NULL, body), "for i in range(2, 2 + s):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", zero, tg_bin(cx, TG_ADD, s, i32(&k, 1)), NULL, body),
          "for i in range(s + 1):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", zero, sum0, NULL, body), "for i in range(0, 0 + (0 + s)):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", lz, tg_int(cx, TG_INT64, 8), NULL, body), "for i in range(T.int64(8)):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", zero, i32(&k, 8), hint, body),
          "for i in T.serial(8, annotations={\"pragma_auto_unroll_max_step\": 16}):\n" },
        { loop(&k, TG_FOR_PARALLEL, "i", zero, i32(&k, 8), NULL, body), "for i in T.parallel(8):\n" },
        { loop(&k, TG_FOR_VECTORIZED, "i", zero, i32(&k, 8), NULL, body), "for i in T.vectorized(8):\n" },
        { loop(&k, TG_FOR_UNROLLED, "i", i32(&k, 1), i32(&k, 4), hint, body), "for i in T.unroll(1, 5, annotations={" },
        { loop(&k, TG_FOR_THREAD, "i", zero, i32(&k, 8), NULL, body),
          "for i in T.thread_binding(8, thread=\"threadIdx.x\"):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", zero, i32(&k, 8), NULL,
               loop(&k, TG_FOR_SERIAL, "j", lz, tg_int(cx, TG_INT64, 4), NULL, body)),
          "for i, j in T.grid(8, T.int64(4)):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", zero, i32(&k, 8), NULL, loop(&k, TG_FOR_SERIAL, "i", zero, s, NULL, body)),
          "for i, i_1 in T.grid(8, s):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", zero, i32(&k, 8), NULL,
               loop(&k, TG_FOR_SERIAL, "j", i32(&k, 1), i32(&k, 4), NULL, body)),
          "for i in range(8):\n            for j in range(1, 5):\n" },
        { loop(&k, TG_FOR_SERIAL, "i", zero, i32(&k, 8), NULL, tg_nop(cx)), "for i in range(8):\n            pass\n" },
    };
    for (size_t i = 0; i < TG_COUNT(cases); ++i)
        assert_holds(text_of_body(&k, cases[i].n), cases[i].text);
    /* a triangle is no grid */
    const tg_var *i = tg_var_new(cx, tg_intern_z(cx, "i"), s->type);
    const tg_node *triangle = tg_for(cx, TG_FOR_SERIAL, i, zero, i32(&k, 8),
                                     loop(&k, TG_FOR_SERIAL, "j", zero, tg_var_ref(cx, i), NULL, body));
    assert_holds(text_of_body(&k, triangle), "for i in range(8):\n            for j in range(i):\n");
}

static void control_flow_prints_as_pythons(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const tg_node *c = tg_bin(cx, TG_LT, scalar(&k), i32(&k, 3)), *a = put(&k, k.a, 0, f32(&k, 1)),
                  *b = put(&k, k.a, 1, f32(&k, 2));
    assert_holds(text_of_body(&k, tg_if(cx, c, a, NULL)), "        if s < 3:\n            A[0] = T.float32(1)\n");
    assert_holds(text_of_body(&k, tg_if(cx, c, a, b)), "        else:\n            A[1] = T.float32(2)\n");
    assert_holds(text_of_body(&k, tg_if(cx, c, a, tg_if(cx, c, b, a))),
                 "        elif s < 3:\n            A[1] = T.float32(2)\n        else:\n");
    assert_holds(text_of_body(&k, tg_if(cx, c, a, tg_if(cx, c, b, NULL))), "        elif s < 3:\n");
    assert_holds(
        text_of_body(&k, tg_if(cx, c, tg_nop(cx), tg_seq(cx, 2, (const tg_node *[]){ tg_if(cx, c, b, NULL), a }))),
        "            pass\n        else:\n            if s < 3:\n");
    text_of_body(&k, tg_if(cx, c, tg_if(cx, c, a, NULL), b));
    assert_holds(text_of_body(&k, tg_node_new(cx, TG_WHILE, TG_NOWHERE, NULL, NULL, 2, (const tg_node *[]){ c, a })),
                 "        while s < 3:\n");
    assert_holds(text_of_body(&k, tg_nop(cx)), "        pass\n");
    assert_holds(text_of_body(&k, tg_evaluate(cx, i32(&k, 0))), "        T.evaluate(0)\n");
    assert_holds(
        text_of_body(&k, tg_seq(cx, 2, (const tg_node *[]){ a, tg_evaluate(cx, tg_call1(cx, "ret", scalar(&k))) })),
        "        return s\n");
}

static void buffers_of_rank_zero_take_an_empty_index(void **state)
{
    maker k = make(state);
    tg_buffer *r = tg_buffer_new(k.cx, tg_intern_z(k.cx, "r"), TG_FLOAT32, 0, NULL, TG_INT32);
    r->data = k.a->data;
    const tg_node *store = tg_store(k.cx, r, tg_load(k.cx, r, 0, NULL), 0, NULL);
    assert_holds(text_of_body(&k, tg_node_new(k.cx, TG_DECL_BUFFER, TG_NOWHERE, NULL, r, 1, &store)),
                 "r = T.decl_buffer((), data=A.data)\n        r[()] = r[()]\n");
}

/* ---- blocks ---- */

typedef struct block_case {
    maker k;
    tg_block_parts p;
    struct tg_iter_part iter[3];
    tg_region read, write;
    const tg_node *loops[2];
} block_case;

/* A matrix product's block inside loops i, j of extents 8 and 4. */
static void begin_block(block_case *c, void **state)
{
    tg_ctx *cx = (c->k = make(state)).cx;
    const tg_var *i = tg_var_new(cx, tg_intern_z(cx, "i"), tg_prim(cx, TG_INT32)),
                 *j = tg_var_new(cx, tg_intern_z(cx, "j"), tg_prim(cx, TG_INT32));
    const tg_node *zero = i32(&c->k, 0);
    c->loops[0] = tg_var_ref(cx, i);
    c->loops[1] = tg_var_ref(cx, j);
    c->iter[0] = (struct tg_iter_part){ tg_var_new(cx, tg_intern_z(cx, "vi"), i->type), TG_ITER_SPATIAL, zero,
                                        i32(&c->k, 8), c->loops[0] };
    c->iter[1] = (struct tg_iter_part){ tg_var_new(cx, tg_intern_z(cx, "vj"), i->type), TG_ITER_REDUCE, zero,
                                        i32(&c->k, 4), c->loops[1] };
    const tg_node *vi = tg_var_ref(cx, c->iter[0].var), *one = i32(&c->k, 1);
    c->read = (tg_region){ c->k.a, tg_copy(cx, &vi, sizeof vi), tg_copy(cx, &one, sizeof one) };
    c->write = (tg_region){ c->k.b, c->read.min, c->read.extent };
    c->p = (tg_block_parts){ .name = tg_intern_z(cx, "C"),
                             .niters = 2,
                             .iter = c->iter,
                             .nreads = 1,
                             .read = &c->read,
                             .nwrites = 1,
                             .write = &c->write,
                             .init = tg_store(cx, c->k.b, f32(&c->k, 0), 1, &vi),
                             .body = tg_store(cx, c->k.b, tg_load(cx, c->k.a, 1, &vi), 1, &vi) };
}

static const char *text_of_block(const block_case *c)
{
    tg_ctx *cx = c->k.cx;
    const tg_node *zero = i32(&c->k, 0), *body = tg_block_new(cx, &c->p);
    body = tg_for(cx, TG_FOR_SERIAL, c->loops[1]->u.var, zero, i32(&c->k, 4), body);
    body = tg_for(cx, TG_FOR_SERIAL, c->loops[0]->u.var, zero, i32(&c->k, 8), body);
    return text_of_body(&c->k, in_root(cx, body, 0, NULL));
}

static void blocks_print_their_axes_regions_and_init(void **state)
{
    block_case c;
    begin_block(&c, state);
    assert_holds(
        text_of_block(&c),
        "        # with T.block(\"root\"):\n        for i, j in T.grid(8, 4):\n            with T.block(\"C\"):\n"
        "                vi, vj = T.axis.remap(\"SR\", [i, j])\n                T.reads(A[vi])\n                "
        "T.writes(B[vi])\n"
        "                with T.init():\n                    B[vi] = T.float32(0)\n                B[vi] = A[vi]\n");
}

static void axes_that_are_no_loop_say_their_domain(void **state)
{
    block_case c;
    begin_block(&c, state);
    tg_ctx *cx = c.k.cx;
    c.iter[0].binding = tg_bin(cx, TG_ADD, tg_bin(cx, TG_MUL, c.loops[0], i32(&c.k, 4)), c.loops[1]);
    c.iter[0].extent = i32(&c.k, 32);
    c.iter[1].min = i32(&c.k, 2);
    c.iter[1].extent = i32(&c.k, 8);
    c.iter[2] = (struct tg_iter_part){ tg_var_new(cx, tg_intern_z(cx, "vo"), tg_prim(cx, TG_INT64)), TG_ITER_OPAQUE,
                                       tg_int(cx, TG_INT64, 0), tg_int(cx, TG_INT64, 3), wide(&c.k) };
    c.p.niters = 3;
    c.p.predicate = tg_bin(cx, TG_LT, c.loops[0], i32(&c.k, 7));
    c.p.annotations = tg_v_dict(cx, 1, (const tg_name *[]){ tg_intern_z(cx, "schedule_rule") },
                                (const tg_value *[]){ tg_v_strz(cx, "None") });
    assert_holds(text_of_block(&c), "                vi = T.axis.spatial(32, i * 4 + j)\n                vj = "
                                    "T.axis.reduce((2, 10), j)\n                vo = T.axis.opaque(T.int64(3), l)\n"
                                    "                T.where(i < 7)\n                T.reads(A[vi])\n                "
                                    "T.writes(B[vi])\n                T.block_attr({\"schedule_rule\": \"None\"})\n");
    c.iter[2].kind = TG_ITER_SCAN;
    c.iter[2].min = wide(&c.k);
    assert_holds(text_of_block(&c), "vo = T.axis.scan((l, l + T.int64(3)), l)\n");
}

static void regions_keep_their_extents(void **state)
{
    block_case c;
    begin_block(&c, state);
    tg_ctx *cx = c.k.cx;
    const tg_node *vi = tg_var_ref(cx, c.iter[0].var), *vi4 = tg_bin(cx, TG_MUL, vi, i32(&c.k, 4)), *n = scalar(&c.k);
    const struct { const tg_node *min, *extent; const char *text; } cases[] = {
        { vi, i32(&c.k, 1), "T.reads(A[vi])" },
        { vi4, i32(&c.k, 4), "T.reads(A[vi * 4:vi * 4 + 4])" },
        { i32(&c.k, 0), i32(&c.k, 8), "T.reads(A[0:8])" },
        { i32(&c.k, 2), i32(&c.k, 3), "T.reads(A[2:5])" },
        { i32(&c.k, 0), n, "T.reads(A[0:s])" },
        { i32(&c.k, 2), n, "T.reads(A[2:2 + s])" },
        { vi, n, "T.reads(A[vi:vi + s])" },
        { tg_bin(cx, TG_SUB, vi, n), tg_bin(cx, TG_ADD, n, vi), "T.reads(A[vi - s:vi - s + (s + vi)])" },
        { vi, i32(&c.k, 0), "T.reads(A[vi:vi + 0])" },
        { i32(&c.k, 0), tg_bin(cx, TG_ADD, i32(&c.k, 0), n), "T.reads(A[0:0 + (0 + s)])" },
    };
    for (size_t i = 0; i < TG_COUNT(cases); ++i) {
        c.read.min = &cases[i].min;
        c.read.extent = &cases[i].extent;
        assert_holds(text_of_block(&c), cases[i].text);
    }
}

static void allocations_and_views_of_blocks_keep_their_fields(void **state)
{
    block_case c;
    begin_block(&c, state);
    tg_ctx *cx = c.k.cx;
    tg_buffer *t = tg_buffer_new(cx, tg_intern_z(cx, "t"), TG_INT8, 2, (const int64_t[]){ 2, 3 }, TG_INT64);
    t->scope = tg_intern_z(cx, "local");
    t->data = tg_var_new(cx, t->name, tg_ptr(cx, TG_INT8, t->scope));
    tg_buffer *view = tg_buffer_new(cx, tg_intern_z(cx, "W"), TG_FLOAT32, 1, (const int64_t[]){ 4 }, TG_INT32);
    const tg_node *stride = tg_var_ref(cx, tg_var_new(cx, tg_intern_z(cx, "W_s"), tg_prim(cx, TG_INT32)));
    view->strides = tg_copy(cx, &stride, sizeof stride);
    view->elem_offset = tg_var_ref(cx, tg_var_new(cx, tg_intern_z(cx, "off"), tg_prim(cx, TG_INT32)));
    view->offset_factor = 1;
    const tg_node *vi4 = tg_bin(cx, TG_MUL, tg_var_ref(cx, c.iter[0].var), i32(&c.k, 4)), *four = i32(&c.k, 4);
    struct tg_match_part match = { view, { c.k.a, &vi4, &four } };
    const tg_buffer *alloc = t;
    c.p.nallocs = 1;
    c.p.alloc = &alloc;
    c.p.nmatches = 1;
    c.p.match = &match;
    const tg_node *arg[5] = { tg_strz(cx, "gemv"), tg_var_ref(cx, view->data), view->elem_offset, stride,
                              tg_var_ref(cx, t->data) };
    c.p.body = tg_evaluate(cx, tg_call(cx, "call_extern", tg_void(cx), 5, arg));
    const char *text = text_of_block(&c);
    assert_holds(
        text, "                t = T.alloc_buffer((T.int64(2), T.int64(3)), \"int8\", scope=\"local\")\n"
              "                W = T.match_buffer(A[vi * 4:vi * 4 + 4], (4,), strides=(\"W_s\",), offset_factor=1)\n");
    assert_holds(text, "T.call_extern(\"void\", \"gemv\", W.data, W.elem_offset, W.strides[0], t.data)");
}

static void the_root_block_is_left_out_where_the_reader_puts_it_back(void **state)
{
    maker k = make(state);
    tg_ctx *cx = k.cx;
    const tg_node *body = put(&k, k.a, 0, f32(&k, 1));
    const tg_buffer *t = tg_buffer_new(cx, tg_intern_z(cx, "t"), TG_INT8, 1, (const int64_t[]){ 2 }, TG_INT32);
    tg_block_parts inner = { .name = tg_intern_z(cx, "x"), .body = body },
                   named = { .name = tg_intern_z(cx, "root"),
                             .body = body,
                             .nallocs = 1,
                             .alloc = &t,
                             .annotations = tg_v_dict(cx, 1, (const tg_name *[]){ tg_intern_z(cx, "a") },
                                                      (const tg_value *[]){ tg_v_int(cx, 1) }) };
    const tg_node *block = tg_block_new(cx, &inner);
    assert_holds(text_of_body(&k, in_root(cx, body, 1, &t)),
                 "        # with T.block(\"root\"):\n        t = T.alloc_buffer((2,), \"int8\")\n");
    assert_holds(text_of_body(&k, in_root(cx, body, 0, NULL)),
                 "        with T.block(\"root\"):\n            T.reads()\n            T.writes()\n            A[0] =");
    assert_holds(text_of_body(&k, in_root(cx, block, 0, NULL)), "        with T.block(\"root\"):\n");
    assert_holds(text_of_body(&k, in_root(cx, tg_seq(cx, 2, (const tg_node *[]){ block, body }), 0, NULL)),
                 "        # with T.block(\"root\"):\n        with T.block(\"x\"):\n");
    assert_holds(text_of_body(&k, tg_block_new(cx, &named)), "        with T.block(\"root\"):\n");
    assert_holds(text_of_body(&k, block), "        with T.block(\"x\"):\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, tg_test_setup, tg_test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(heads_are_flat_at_the_end_of_a_suite_and_a_with_before_it),
        TEST(an_allocation_around_its_buffer_is_one_declaration),
        TEST(pointers_of_unusual_types_say_so),
        TEST(loops_of_all_kinds_keep_bounds_and_annotations),
        TEST(control_flow_prints_as_pythons),
        TEST(buffers_of_rank_zero_take_an_empty_index),
        TEST(blocks_print_their_axes_regions_and_init),
        TEST(axes_that_are_no_loop_say_their_domain),
        TEST(regions_keep_their_extents),
        TEST(allocations_and_views_of_blocks_keep_their_fields),
        TEST(the_root_block_is_left_out_where_the_reader_puts_it_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
