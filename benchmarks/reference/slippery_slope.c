/* Slippery Slope, uniformly random play, one match at a time in scalar C: what the hardware can do at most.
 *
 * Compiled and called by c_reference.py.  Written from the rules of the game (R1 ... R11 in the manual of
 * slopes_envs/games/slippery_slope.py) and sharing nothing with the arrays there: the tests play its hands again in
 * the library and compare dealing, legal actions, scores and observations decision by decision.
 *
 * Cards and actions are numbered as there: card = 7 * suit + rank, jokers 28 and 29; action = bid, or 11 + card.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined __BMI2__ || defined __AVX512BW__
#include <immintrin.h>
#endif

enum { SEATS = 3, TRICKS = 10, SUITS = 4, RANKS = 7, CARDS = 30, BIDS = 11, MOVES = SEATS + SEATS * TRICKS };
enum { ACE = 0, FOUR = 3, LITTLE = 28, SUITED = (1 << LITTLE) - 1, NO_SUIT = 4 };
enum { OPEN, DOWN, UP, NONE }; /* directions of a trick */
enum { TARGET = 20, MOST_HANDS = 100, LEVELS = 20, SCORE_BITS = 11, HAND_BITS = 8 };

/* Features of an observation, in the order of the planes that c_reference.py names; then the mask of legal actions. */
enum { FEATURES = 460, ACTIONS = BIDS + CARDS, ROW = FEATURES + ACTIONS, WORDS = (ROW + 63) / 64, STRIDE = 64 * WORDS };

typedef struct {
    uint64_t random;                         /* state of the generator */
    int32_t scores[SEATS], last_bids[SEATS]; /* last bids: of the hand before, -1 in the first */
    int32_t hand, dealer;
} Match;

typedef struct {
    uint32_t held[SEATS], seen[SEATS], table[SEATS]; /* bit sets of cards */
    uint32_t voids[SEATS];                           /* suits shown to be void, one bit a suit */
    int32_t bids[SEATS], tricks[SEATS];
    int32_t suit, direction, leader; /* of the present trick; NO_SUIT where none is led */
    int32_t moves;
} Hand;

/* One hand written down. */
typedef struct {
    uint32_t dealt[SEATS];
    int32_t dealer, change[SEATS];
    int32_t seat[MOVES], action[MOVES];
    uint64_t legal[MOVES]; /* bit sets of actions */
    uint8_t rows[MOVES][ROW];
} Trace;

/* ------------------------------------------------------------------------------------------------------ chance */

static inline uint32_t below(uint64_t *state, uint32_t bound) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u; /* SplitMix64 */
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)(((z ^ z >> 31) >> 32) * bound >> 32);
}

static inline int nth_bit(uint64_t set, uint32_t n) {
#ifdef __BMI2__
    return __builtin_ctzll(_pdep_u64(1ull << n, set));
#else
    while (n--) set &= set - 1;
    return __builtin_ctzll(set);
#endif
}

static inline int choose(uint64_t *random, uint64_t legal) {
    return nth_bit(legal, below(random, (uint32_t)__builtin_popcountll(legal)));
}

static inline void deal(uint64_t *random, uint32_t held[SEATS]) {
    uint8_t cards[CARDS];
    for (int i = 0; i < CARDS; i++) cards[i] = (uint8_t)i;
    for (int i = CARDS - 1; i >= TRICKS; i--) { /* the last ten places stay as they fall */
        uint32_t j = below(random, (uint32_t)i + 1);
        uint8_t card = cards[j];
        cards[j] = cards[i];
        cards[i] = card;
    }
    for (int seat = 0; seat < SEATS; seat++) {
        held[seat] = 0;
        for (int i = 0; i < TRICKS; i++) held[seat] |= 1u << cards[TRICKS * seat + i];
    }
}

/* ------------------------------------------------------------------------------------------------------- rules */

static inline int left_of(int seat) { return seat == SEATS - 1 ? 0 : seat + 1; }

static inline int suit_of(int card) { return card >= LITTLE ? NO_SUIT : card / RANKS; }

/* Direction that a card gives a trick (R7, R8); NONE for aces and jokers (R9). */
static inline int turns(int card) {
    int rank = card % RANKS;
    return card >= LITTLE || rank == ACE ? NONE : rank <= FOUR ? DOWN : UP;
}

/* How strong a card that did not open the trick is (R6 - R9). */
static inline int strength(int card, int suit, int direction) {
    static const int8_t by_rank[4][RANKS] = {
        [DOWN] = {9, 8, 7, 6, 5, 4, 3}, /* A 2 3 4 J Q K */
        [UP] = {9, 3, 4, 5, 6, 7, 8},
        [NONE] = {2, 2, 2, 2, 2, 2, 2},
    };
    if (card >= LITTLE) return 20 + card - LITTLE;
    return suit_of(card) == suit ? by_rank[direction][card % RANKS] : 0;
}

/* The one that opened it: a led ace is weaker than every other card of its suit (R9). */
static inline int led_strength(int card, int suit, int direction) {
    return card < LITTLE && card % RANKS == ACE ? 1 : strength(card, suit, direction);
}

static inline uint32_t legal_cards(const Hand *hand, int seat, int leads) {
    uint32_t held = hand->held[seat];
    uint32_t bound = leads ? held & SUITED                                                     /* R4 */
                     : hand->suit == NO_SUIT ? 0 : held & (0x7fu << RANKS * hand->suit);       /* R5 */
    return bound ? bound : held;
}

/* ------------------------------------------------------------------------------------------------- observation */

/* Bits of a row, packed; with everything inlined, places are constants. */
typedef struct {
    uint64_t word[WORDS];
    int at;
} Bits;

static inline void put(Bits *bits, uint64_t value, int count) {
    int word = bits->at / 64, shift = bits->at % 64;
    bits->word[word] |= value << shift;
    if (shift + count > 64) bits->word[word + 1] |= value >> (64 - shift);
    bits->at += count;
}

static inline void spread(uint64_t bits, uint8_t *at) { /* 64 bits as 64 bytes of 0 or 1 */
#ifdef __AVX512BW__
    _mm512_storeu_si512(at, _mm512_maskz_set1_epi8(bits, 1));
#else
    for (int i = 0; i < 64; i += 8) {
        uint64_t eight = bits >> i & 0xff;
        uint64_t bytes = ((eight & 0x7f) * 0x0002040810204081u & 0x0101010101010101u) | eight >> 7 << 56;
        memcpy(at + i, &bytes, 8);
    }
#endif
}

static inline uint64_t one_hot(int value) { return value < 0 ? 0 : 1ull << value; }
static inline uint64_t thermometer(int value) { return (1ull << value) - 1; }

static inline int level(int score) { /* from -TARGET to TARGET in twentieths, clipped; a floor, not a truncation */
    int scaled = (score + TARGET) * 10;
    if (scaled <= 0) return 0;
    return scaled / TARGET > LEVELS ? LEVELS : scaled / TARGET;
}

#define EACH _Pragma("GCC unroll 3") for (int k = 0, seat = me; k < SEATS; k++, seat = left_of(seat))

static inline void observe(const Match *match, const Hand *hand, int me, uint64_t legal, uint8_t *row) {
    Bits bits = {0};
    int bidding = hand->moves < SEATS;
    int own_bid = hand->bids[me];
    put(&bits, hand->held[me], CARDS);
    EACH put(&bits, hand->table[seat], CARDS);
    EACH put(&bits, hand->seen[seat], CARDS);
    put(&bits, hand->suit == NO_SUIT ? 0 : one_hot(hand->suit), SUITS);
    put(&bits, one_hot(hand->direction), 4);
    EACH put(&bits, hand->voids[seat], SUITS);
    EACH put(&bits, seat == me ? one_hot(own_bid) : 0, BIDS); /* R2: the others' are secret */
    EACH put(&bits, bidding ? one_hot(match->last_bids[seat]) : 0, BIDS);
    put(&bits, own_bid < 0 ? 0 : one_hot(own_bid - hand->tricks[me] + TRICKS), 2 * TRICKS + 1);
    EACH put(&bits, thermometer(hand->tricks[seat]), TRICKS);
    put(&bits, one_hot(!bidding), 3);
    put(&bits, 1, SEATS); /* the seat to move is asked */
    put(&bits, one_hot((match->dealer - me + SEATS) % SEATS), SEATS);
    put(&bits, one_hot((hand->leader - me + SEATS) % SEATS), SEATS);
    EACH put(&bits, thermometer(level(match->scores[seat])), LEVELS);
    EACH put(&bits, (uint32_t)match->scores[seat] & ((1u << SCORE_BITS) - 1), SCORE_BITS);
    put(&bits, (uint32_t)match->hand, HAND_BITS);
    put(&bits, legal, ACTIONS);
    for (int word = 0; word < WORDS; word++) spread(bits.word[word], row + 64 * word);
}

/* -------------------------------------------------------------------------------------------------------- play */

/* Before a decision: what is to be told of it.  `rows` and `trace` are constants where this is inlined. */
static inline void tell(const Match *match, const Hand *hand, int seat, uint64_t legal, uint8_t *rows, Trace *trace) {
    if (rows) observe(match, hand, seat, legal, rows + (size_t)STRIDE * hand->moves);
    if (trace) {
        trace->seat[hand->moves] = seat;
        trace->legal[hand->moves] = legal;
    }
}

static inline void play_trick(Match *match, Hand *hand, uint8_t *rows, Trace *trace) {
    int best = -1, winner = 0, seat = hand->leader;
    hand->suit = NO_SUIT;
    hand->direction = OPEN;
    memset(hand->table, 0, sizeof hand->table);
    for (int k = 0; k < SEATS; k++, seat = left_of(seat)) {
        uint32_t legal = legal_cards(hand, seat, k == 0);
        tell(match, hand, seat, (uint64_t)legal << BIDS, rows, trace);
        int card = choose(&match->random, legal), power;
        if (k == 0) {
            hand->suit = suit_of(card);
            hand->direction = card < LITTLE && card % RANKS == ACE ? OPEN : turns(card);
            if (hand->suit == NO_SUIT) hand->voids[seat] = (1 << SUITS) - 1; /* R4 */
            power = led_strength(card, hand->suit, hand->direction);
        } else {
            if (hand->direction == OPEN) hand->direction = turns(card); /* R9: the second card after a led ace */
            if (hand->suit != NO_SUIT && suit_of(card) != hand->suit) hand->voids[seat] |= 1u << hand->suit;
            power = strength(card, hand->suit, hand->direction);
        }
        if (power > best) best = power, winner = seat;
        hand->held[seat] ^= 1u << card;
        hand->seen[seat] |= 1u << card;
        hand->table[seat] = 1u << card;
        if (trace) trace->action[hand->moves] = BIDS + card;
        hand->moves++;
    }
    hand->tricks[winner]++;
    hand->leader = winner; /* R3 */
}

static inline void play_hand(Match *match, int64_t *totals, uint8_t *rows, Trace *trace) {
    Hand hand = {.bids = {-1, -1, -1}, .suit = NO_SUIT, .direction = OPEN, .leader = left_of(match->dealer)};
    deal(&match->random, hand.held);
    if (trace) {
        memcpy(trace->dealt, hand.held, sizeof hand.held);
        trace->dealer = match->dealer;
    }
    for (int seat = hand.leader; hand.moves < SEATS; seat = left_of(seat)) { /* R2 */
        tell(match, &hand, seat, (1u << BIDS) - 1, rows, trace);
        hand.bids[seat] = (int32_t)below(&match->random, BIDS);
        if (trace) trace->action[hand.moves] = hand.bids[seat];
        hand.moves++;
    }
    for (int trick = 0; trick < TRICKS; trick++) play_trick(match, &hand, rows, trace);
    for (int seat = 0; seat < SEATS; seat++) { /* R10 */
        int bid = hand.bids[seat], won = hand.tricks[seat], change = bid == won ? won : -abs(bid - won);
        match->scores[seat] += change;
        match->last_bids[seat] = bid;
        totals[seat] += change;
        if (trace) trace->change[seat] = change;
    }
    match->hand++;
    match->dealer = left_of(match->dealer); /* R1 */
}

static inline void begin(Match *match) {
    for (int seat = 0; seat < SEATS; seat++) match->scores[seat] = 0, match->last_bids[seat] = -1;
    match->hand = 0;
    match->dealer = (int32_t)below(&match->random, SEATS);
}

static inline int over(const Match *match) { /* R11 */
    for (int seat = 0; seat < SEATS; seat++)
        if (match->scores[seat] >= TARGET) return 1;
    return match->hand >= MOST_HANDS;
}

static inline void play_matches(uint64_t hands, uint64_t seed, int64_t *totals, uint8_t *rows) {
    Match match = {.random = seed};
    begin(&match);
    for (uint64_t hand = 0; hand < hands; hand++) {
        if (over(&match)) begin(&match);
        play_hand(&match, totals, rows, NULL);
    }
}

/* Play some hands, match after match; adds every seat's score to `totals[3]`. */
void play(uint64_t hands, uint64_t seed, int64_t *totals) { play_matches(hands, seed, totals, NULL); }

/* The same, writing an observation and a mask before every decision into `rows[33][512]`, one row a move of the hand. */
void play_observed(uint64_t hands, uint64_t seed, int64_t *totals, uint8_t *rows) {
    play_matches(hands, seed, totals, rows);
}

/* Write down the hands of one match, at most `most` of them; returns how many there were. */
uint64_t trace_match(uint64_t seed, uint64_t most, Trace *traces) {
    static uint8_t rows[MOVES * STRIDE];
    int64_t totals[SEATS] = {0};
    Match match = {.random = seed};
    begin(&match);
    uint64_t hand = 0;
    for (; hand < most && !over(&match); hand++) {
        play_hand(&match, totals, rows, &traces[hand]);
        for (int move = 0; move < MOVES; move++) memcpy(traces[hand].rows[move], rows + STRIDE * move, ROW);
    }
    return hand;
}
