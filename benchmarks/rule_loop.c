/* The rule model trained by hand: forward, backward and AdamW of 250 numbers, as a measure of what a machine can do.

   The weights lie in one vector, in the order of Architecture.shapes(); a matrix maps rows to columns. Every step's
   weights are kept, as the laboratory does. Only this one model: sizes are constants, so that the compiler can unroll. */

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { V = 12, T = 8, D = 2, H = 32, B = 8 };  /* tokens, context, width, neurons, batch */
enum {
    TOKEN = 0, POSITION = TOKEN + V * D, QUERY = POSITION + T * D, KEY = QUERY + D * D, VALUE = KEY + D * D,
    EXPAND = VALUE + D * D, EXPAND_BIAS = EXPAND + D * H, CONTRACT = EXPAND_BIAS + H, CONTRACT_BIAS = CONTRACT + H * D,
    READ_OUT = CONTRACT_BIAS + D, READ_OUT_BIAS = READ_OUT + D * V, N = READ_OUT_BIAS + V
};

/* y += x M */
static inline void times(const float *x, const float *m, float *y, int rows, int columns) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) y[j] += x[i] * m[i * columns + j];
}

/* dM += x dy, and dx += M dy */
static inline void back(const float *x, const float *m, const float *dy, float *dm, float *dx, int rows, int columns) {
    for (int i = 0; i < rows; i++) {
        float sum = 0;
        for (int j = 0; j < columns; j++) {
            dm[i * columns + j] += x[i] * dy[j];
            sum += m[i * columns + j] * dy[j];
        }
        dx[i] += sum;
    }
}

/* One window of T + 1 tokens: its share of the mean loss, and of the gradient. */
static float window(const float *w, const int32_t *tokens, float *g) {
    float x[T][D], q[T][D] = {0}, k[T][D] = {0}, v[T][D] = {0}, a[T][T];
    float dx[T][D], dq[T][D] = {0}, dk[T][D] = {0}, dv[T][D] = {0};
    float loss = 0;
    const float share = 1.0f / (B * T), scale = 1.0f / sqrtf(D);
    for (int t = 0; t < T; t++) {
        for (int i = 0; i < D; i++) x[t][i] = w[TOKEN + tokens[t] * D + i] + w[POSITION + t * D + i];
        times(x[t], w + QUERY, q[t], D, D);
        times(x[t], w + KEY, k[t], D, D);
        times(x[t], w + VALUE, v[t], D, D);
    }
    for (int t = 0; t < T; t++) {
        float most = -1e30f, sum = 0, middle[D], hidden[H], out[D], logits[V];
        for (int s = 0; s <= t; s++) {
            a[t][s] = 0;
            for (int i = 0; i < D; i++) a[t][s] += q[t][i] * k[s][i];
            a[t][s] *= scale;
            most = fmaxf(most, a[t][s]);
        }
        for (int s = 0; s <= t; s++) sum += a[t][s] = expf(a[t][s] - most);
        memcpy(middle, x[t], sizeof middle);
        for (int s = 0; s <= t; s++) {
            a[t][s] /= sum;
            for (int i = 0; i < D; i++) middle[i] += a[t][s] * v[s][i];
        }
        memcpy(hidden, w + EXPAND_BIAS, sizeof hidden);
        times(middle, w + EXPAND, hidden, D, H);
        for (int j = 0; j < H; j++) hidden[j] = fmaxf(hidden[j], 0);
        for (int i = 0; i < D; i++) out[i] = middle[i] + w[CONTRACT_BIAS + i];
        times(hidden, w + CONTRACT, out, H, D);
        memcpy(logits, w + READ_OUT_BIAS, sizeof logits);
        times(out, w + READ_OUT, logits, D, V);

        float dlogits[V], dout[D] = {0}, dhidden[H] = {0}, dmiddle[D], da[T], dot = 0;
        most = -1e30f, sum = 0;
        for (int j = 0; j < V; j++) most = fmaxf(most, logits[j]);
        for (int j = 0; j < V; j++) sum += dlogits[j] = expf(logits[j] - most);
        for (int j = 0; j < V; j++) dlogits[j] *= share / sum;
        dlogits[tokens[t + 1]] -= share;
        loss += share * (logf(sum) + most - logits[tokens[t + 1]]);
        for (int j = 0; j < V; j++) g[READ_OUT_BIAS + j] += dlogits[j];
        back(out, w + READ_OUT, dlogits, g + READ_OUT, dout, D, V);
        memcpy(dmiddle, dout, sizeof dmiddle);
        for (int i = 0; i < D; i++) g[CONTRACT_BIAS + i] += dout[i];
        back(hidden, w + CONTRACT, dout, g + CONTRACT, dhidden, H, D);
        for (int j = 0; j < H; j++) dhidden[j] = hidden[j] > 0 ? dhidden[j] : 0;
        for (int j = 0; j < H; j++) g[EXPAND_BIAS + j] += dhidden[j];
        back(middle, w + EXPAND, dhidden, g + EXPAND, dmiddle, D, H);
        memcpy(dx[t], dmiddle, sizeof dmiddle);
        for (int s = 0; s <= t; s++) {
            da[s] = 0;
            for (int i = 0; i < D; i++) {
                da[s] += dmiddle[i] * v[s][i];
                dv[s][i] += dmiddle[i] * a[t][s];
            }
            dot += a[t][s] * da[s];
        }
        for (int s = 0; s <= t; s++) {
            float ds = a[t][s] * (da[s] - dot) * scale;
            for (int i = 0; i < D; i++) {
                dq[t][i] += ds * k[s][i];
                dk[s][i] += ds * q[t][i];
            }
        }
    }
    for (int t = 0; t < T; t++) {
        back(x[t], w + QUERY, dq[t], g + QUERY, dx[t], D, D);
        back(x[t], w + KEY, dk[t], g + KEY, dx[t], D, D);
        back(x[t], w + VALUE, dv[t], g + VALUE, dx[t], D, D);
        for (int i = 0; i < D; i++) {
            g[TOKEN + tokens[t] * D + i] += dx[t][i];
            g[POSITION + t * D + i] += dx[t][i];
        }
    }
    return loss;
}

/* Steps from + 1 ... from + steps on windows (step, B, T + 1); kept (step, N) gets the weights after each of them. */
float train(float *w, float *first, float *second, int from, int steps, const int32_t *windows, float *kept,
            float rate, float decay) {
    const float beta_1 = 0.9f, beta_2 = 0.999f, epsilon = 1e-8f;
    float loss = 0;
    for (int step = 0; step < steps; step++) {
        float g[N] = {0};
        for (int b = 0; b < B; b++) loss += window(w, windows + (step * B + b) * (T + 1), g);
        const float whole_1 = 1 / (1 - powf(beta_1, from + step + 1)), whole_2 = 1 / (1 - powf(beta_2, from + step + 1));
        for (int i = 0; i < N; i++) {
            first[i] = beta_1 * first[i] + (1 - beta_1) * g[i];
            second[i] = beta_2 * second[i] + (1 - beta_2) * g[i] * g[i];
            w[i] -= rate * (first[i] * whole_1 / (sqrtf(second[i] * whole_2) + epsilon) + decay * w[i]);
        }
        memcpy(kept + step * N, w, sizeof g);
    }
    return loss / steps;
}

/* Windows (step, B, T + 1): a piece chosen evenly, then a start in it. */
void draw(uint64_t *chance, const int32_t *tokens, const int32_t *starts, const int32_t *counts, int pieces, int steps,
          int32_t *windows) {
    for (int i = 0; i < steps * B; i++) {
        uint32_t r[2];
        for (int j = 0; j < 2; j++) {  /* xorshift64* */
            *chance ^= *chance >> 12;
            *chance ^= *chance << 25;
            *chance ^= *chance >> 27;
            r[j] = (uint32_t)((*chance * 2685821657736338717ull) >> 32);
        }
        const int piece = (int)(((uint64_t)r[0] * pieces) >> 32);
        const int start = starts[piece] + (int)(((uint64_t)r[1] * counts[piece]) >> 32);
        memcpy(windows + i * (T + 1), tokens + start, (T + 1) * sizeof *tokens);
    }
}
