/* conv.h: what convolutions and pools share: windows that slide over spatial axes. Private to src/ops. */
#ifndef TG_OPS_CONV_H
#define TG_OPS_CONV_H

#include "build.h"

/* One spatial axis of a sliding window. */
typedef struct tg_window {
    char letter;                    /* 'D', 'H' or 'W' */
    int64_t in, out;                /* extents */
    int64_t kernel, stride, dilation, before, after;    /* before, after: padding */
} tg_window;

/* Letters of n spatial axes: "W", "HW", "DHW". */
const char *tg_spatial_letters(int n);
/* The digit in "nn.conv2d". */
int tg_spatial_count(const tg_op *op);
/* Attributes of a list with one value an axis (one value: for all), each at least @p least. */
bool tg_window_ints(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, int n, int64_t least, int64_t *out);
/* Attribute "padding" in its three forms, each at least @p least, into w[i].before and after. */
bool tg_window_padding(tg_ctx *cx, const tg_op *op, const tg_node *call, int n, int64_t least, tg_window *w);
/* w[i].out from the rest; an error when the window is larger than the padded input. */
bool tg_window_out(tg_ctx *cx, const tg_node *call, int n, tg_window *w, bool ceil_mode);
/* A layout attribute that must have the axes in @p need (others are an error when @p only). Empty text: @p otherwise. */
bool tg_layout_attr(tg_ctx *cx, const tg_op *op, const tg_node *call, const char *name, const char *otherwise, const char *need, tg_layout *out);
/* The data with its windows' padding around it: in[k] itself when there is none, else a temporary filled by a block "pad".
 * Spacing > 1 puts that many minus one fill values between neighbours (transposed convolution); dims: of the data. */
const tg_buffer *tg_pad_windows(tg_lower *lo, uint32_t k, const tg_layout *l, int n, const tg_window *w, const int64_t *spacing, tg_expr fill);
/* Name of a loop over a layout axis: "n", "h", "ci" … with @p prefix before spatial letters and channels ("o": "oc", "oh"). */
const char *tg_layout_axis_name(tg_ctx *cx, const tg_layout *l, uint32_t k, const char *prefix);

#endif
