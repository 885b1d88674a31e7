/* relay_text.h: what the scanner of Relay text keeps: where it reads, the brackets that are open, the names declared so far.
 * Frontends name variables as they like ("conv/kernel:0", "0.weight", "input layer"), so a name cannot be told from what
 * follows it by its letters: the scanner knows where names are declared, and matches uses against them. */
#ifndef TG_RELAY_TEXT_H
#define TG_RELAY_TEXT_H

#include "ir/map.h"
#include "ir/names.h"
#include "ir/source.h"
#include "ir/vec.h"

/* Place of a token or of a phrase. note: byte of the comment that follows directly, 0 for none; it may hold an annotation. */
typedef struct tg_relay_loc { tg_span span; uint32_t note; } tg_relay_loc;

/* A name that is declared somewhere; count: how often in the scopes that are open. */
typedef struct tg_relay_word {
    struct tg_relay_word *next;     /* same hash */
    const tg_name *name;
    uint32_t count;
    bool odd;                       /* not letters, digits, _ and / alone */
} tg_relay_word;

enum tg_relay_frame_kind {
    TG_FRAME_TOP, TG_FRAME_PLAIN,   /* scope of the lets inside */
    TG_FRAME_PARAMS,                /* parameters: their names live until the body ends */
    TG_FRAME_MATCH,                 /* the arms of a match */
    TG_FRAME_PATTERN                /* brackets within a pattern */
};

/* An open bracket. */
typedef struct tg_relay_frame {
    uint8_t kind;
    bool in_pattern;                /* MATCH: before => */
    bool fn_next, match_next;       /* the next ( opens parameters, the next { arms */
    bool has_body;                  /* parameters were read: the next { is their body, */
    uint32_t body_mark;             /* whose end forgets the names from here on */
    uint32_t mark;                  /* words when it was opened */
} tg_relay_frame;

typedef struct tg_relay_text {
    tg_ctx *cx;
    tg_source *src;
    const char *text;
    uint32_t end;                   /* of the program part */
    uint32_t at;                    /* next byte for the scanner */
    uint32_t fed;                   /* next byte for flex's buffer */
    int last;                       /* token before, 0 at the start */
    bool started;
    bool unnested; /* a comment was found whose nesting never ends: comments do not nest in this text */
    TG_VEC(tg_relay_frame) frames;
    TG_VEC(tg_relay_word *) words;  /* declared and in scope, in order */
    tg_map by_hash;
    size_t longest_odd;             /* bytes of the longest odd name ever declared */
} tg_relay_text;

void tg_relay_text_init(tg_relay_text *t, tg_ctx *cx, tg_source *src, uint32_t begin, uint32_t end);

void tg_relay_text_reset(tg_relay_text *t,
                         uint32_t at); /* goes on from here at top level: nothing is open or declared */

/* Feeds flex from the text; no more than a line's worth at a time, because jumps throw the rest away. */
size_t tg_relay_feed(tg_relay_text *t, char *buffer, size_t most);

/* ---- lexical pieces, by position in the text; each returns the byte after it ---- */
uint32_t tg_relay_comment(tg_relay_text *t, uint32_t at);       /* at the opening; t->end when it never ends */
bool tg_relay_stands(const tg_relay_text *t, uint32_t at, const char *word);   /* is this what begins here? */
uint32_t tg_relay_skip_blanks(const tg_relay_text *t, uint32_t at);     /* white space only */
uint32_t tg_relay_next(tg_relay_text *t, uint32_t at);          /* white space and comments */
uint32_t tg_relay_balanced(const tg_relay_text *t,
                           uint32_t at); /* a bracket and all up to its partner; strings respected */
uint32_t tg_relay_primfn(const tg_relay_text *t, uint32_t at);  /* a TIR function in the old form */
uint32_t tg_relay_plain_name(const tg_relay_text *t, uint32_t at);      /* letters, digits, _ and / */
/* At the opening quote. NULL with *end at the place when the string does not end on its line. */
const tg_name *tg_relay_string(tg_relay_text *t, uint32_t at, uint32_t *end);
uint32_t tg_relay_string_end(const tg_relay_text *t,
                             uint32_t at); /* the same without decoding; the next byte if not closed */
/* At the byte after %: is a name declared here? */
bool tg_relay_declares(const tg_relay_text *t);
uint32_t tg_relay_declared_name(tg_relay_text *t, uint32_t at); /* end of the name that is declared */
uint32_t tg_relay_used_name(tg_relay_text *t,
                            uint32_t at); /* end of the longest declared name, else of the plain one */
void tg_relay_declare(tg_relay_text *t, const tg_name *name);

/* Follows the brackets and words that decide where names are declared. Called with every token, in order. */
void tg_relay_track(tg_relay_text *t, int token);

#endif
