// Solves a proof of work: finds a number for which the SHA-256 (FIPS 180-4) of the challenge and the number begins
// with the required zero bits. Runs as a worker, so that the page stays responsive.
"use strict";

const BLOCK = 64;
const LENGTH = 8;

const ROUNDS = new Uint32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);

const INITIAL = new Uint32Array([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);

const schedule = new Uint32Array(64);

function rotated(word, bits) {
  return (word >>> bits) | (word << (32 - bits));
}

function expand(view, offset) {
  for (let index = 0; index < 16; index++) {
    schedule[index] = view.getUint32(offset + 4 * index);
  }
  for (let index = 16; index < 64; index++) {
    const early = schedule[index - 15];
    const late = schedule[index - 2];
    schedule[index] =
      schedule[index - 16] +
      (rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3)) +
      schedule[index - 7] +
      (rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10));
  }
}

function compress(state, view, offset) {
  expand(view, offset);
  let [a, b, c, d, e, f, g, h] = state;
  for (let index = 0; index < 64; index++) {
    const upper = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const first = (h + upper + ((e & f) ^ (~e & g)) + ROUNDS[index] + schedule[index]) | 0;
    const lower = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const second = (lower + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

function zeroBits(state) {
  let bits = 0;
  for (const word of state) {
    bits += Math.clz32(word);
    if (word !== 0) break;
  }
  return bits;
}

function solve(challenge) {
  const difficulty = Number(challenge.split(":")[1]);
  const text = new TextEncoder().encode(challenge);
  const whole = text.length - (text.length % BLOCK);

  // The blocks before the number are the same for every attempt.
  const begun = INITIAL.slice();
  const textView = new DataView(text.buffer);
  for (let offset = 0; offset < whole; offset += BLOCK) compress(begun, textView, offset);

  const end = new Uint8Array(2 * BLOCK);
  const endView = new DataView(end.buffer);
  const state = new Uint32Array(8);
  for (let number = 0; number < Number.MAX_SAFE_INTEGER; number++) {
    end.fill(0);
    end.set(text.subarray(whole));
    let length = text.length - whole;
    for (const digit of String(number)) end[length++] = digit.charCodeAt(0);
    end[length] = 0x80;
    const size = length + 1 + LENGTH > BLOCK ? 2 * BLOCK : BLOCK;
    endView.setUint32(size - 4, 8 * (whole + length));
    state.set(begun);
    for (let offset = 0; offset < size; offset += BLOCK) compress(state, endView, offset);
    if (zeroBits(state) >= difficulty) return challenge + number;
  }
  return "";
}

self.onmessage = (event) => self.postMessage(solve(event.data));
