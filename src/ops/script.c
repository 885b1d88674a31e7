/* script.c: statements written one after another, with groups for loops and conditions: the bodies of sequential blocks. */
#include "build.h"

typedef struct group {
    enum { PLAIN, LOOP, WHILE_LOOP, THEN, ELSE, LET_SCOPE } kind;
    const tg_var *var;
    const tg_node *a, *b, *then; /* bounds or condition or value; the finished first branch */
    TG_VEC(const tg_node *) stmt;
} group;

struct tg_script {
    tg_ctx *cx;
    DLDataType index;
    TG_VEC(group) open;
};

tg_script *tg_script_new(tg_lower *lo)
{
    tg_script *s = TG_NEW(lo->cx, tg_script);
    s->cx = lo->cx;
    s->index = lo->index;
    TG_PUSH(s->cx, s->open, ((group){ .kind = PLAIN }));
    return s;
}

static group *top(tg_script *s)
{
    return &s->open.at[s->open.n - 1];
}

static void emit(tg_script *s, const tg_node *stmt)
{
    group *g = top(s);
    TG_PUSH(s->cx, g->stmt, stmt);
}

static void push_group(tg_script *s, group g)
{
    TG_PUSH(s->cx, s->open, g);
}

void tg_s_store(tg_script *s, const tg_buffer *b, tg_expr value, tg_expr index)
{
    emit(s, tg_store(s->cx, b, tg_to(s->cx, b->dtype, value), 1, &index));
}

void tg_s_put(tg_script *s, const tg_buffer *b, tg_expr value, const tg_at *at)
{
    emit(s, tg_store(s->cx, b, tg_to(s->cx, b->dtype, value), at->n, at->ix));
}

tg_expr tg_s_let(tg_script *s, const char *hint, tg_expr value)
{
    if (value->kind == TG_INT || value->kind == TG_FLOAT || value->kind == TG_VAR) return value;
    const tg_var *v = tg_var_new(s->cx, tg_intern_z(s->cx, hint), value->type);
    push_group(s, (group){ .kind = LET_SCOPE, .var = v, .a = value });
    return tg_var_ref(s->cx, v);
}

tg_expr tg_s_for(tg_script *s, const char *hint, tg_expr min, tg_expr extent)
{
    const tg_var *v = tg_var_new(s->cx, tg_intern_z(s->cx, hint), min->type);
    push_group(s, (group){ .kind = LOOP, .var = v, .a = min, .b = extent });
    return tg_var_ref(s->cx, v);
}

void tg_s_while(tg_script *s, tg_expr condition)
{
    push_group(s, (group){ .kind = WHILE_LOOP, .a = condition });
}

void tg_s_if(tg_script *s, tg_expr condition)
{
    push_group(s, (group){ .kind = THEN, .a = condition });
}

static const tg_node *body_of(tg_script *s, const group *g)
{
    return tg_seq(s->cx, (uint32_t)g->stmt.n, g->stmt.at);
}

static const tg_node *close_one(tg_script *s, const group *g)
{
    const tg_node *body = body_of(s, g);
    switch (g->kind) {
    case LOOP: return tg_for(s->cx, TG_FOR_SERIAL, g->var, g->a, g->b, body);
    case WHILE_LOOP: return tg_node_new(s->cx, TG_WHILE, TG_NOWHERE, NULL, NULL, 2, (const tg_node *[]){ g->a, body });
    case THEN: return tg_if(s->cx, g->a, body, NULL);
    case ELSE: return tg_if(s->cx, g->a, g->then, body);
    case LET_SCOPE: return tg_let_stmt(s->cx, g->var, g->a, body);
    default: return body;
    }
}

/* Values named by tg_s_let() end with the group around them. */
static void close_lets(tg_script *s)
{
    while (top(s)->kind == LET_SCOPE) {
        group g = *top(s);
        --s->open.n;
        emit(s, close_one(s, &g));
    }
}

void tg_s_else(tg_script *s)
{
    close_lets(s);
    group g = *top(s);
    TG_CHECK(s->cx, g.kind == THEN, g.a);
    --s->open.n;
    push_group(s, (group){ .kind = ELSE, .a = g.a, .then = body_of(s, &g) });
}

void tg_s_end(tg_script *s)
{
    close_lets(s);
    group g = *top(s);
    TG_CHECK(s->cx, g.kind != PLAIN, g.a);
    --s->open.n;
    emit(s, close_one(s, &g));
}

const tg_node *tg_script_done(tg_script *s)
{
    close_lets(s);
    TG_CHECK(s->cx, s->open.n == 1, NULL);
    return body_of(s, top(s));
}
