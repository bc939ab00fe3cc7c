// Answers for feelin: a JSON line in, a JSON line out. The argument is feelin's folder.
//
// {"evaluate": [[text, context], …]}         → [{"value": …} or {"error": message}, …]
// {"measure": [text, …], context, seconds}   → nanoseconds of one evaluation of each, the best of five rounds
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { evaluate } = await import(pathToFileURL(join(process.argv[2], 'dist', 'index.js')));
const ROUNDS = 5;

function plain(_key, value) {
  if (typeof value === 'number' && !Number.isFinite(value)) return { $: String(value) };
  if (typeof value === 'function') return { $: 'function' };
  return value === undefined ? null : value;
}

function answer([text, context]) {
  try {
    return { value: evaluate(text, context).value };
  } catch (error) {
    return { error: error.message };
  }
}

function repeated(text, context, nanoseconds) {
  let count = 0;
  const begun = process.hrtime.bigint();
  let elapsed = 0n;
  while (elapsed < nanoseconds) {
    for (let turn = 0; turn < 16; turn++) evaluate(text, context);
    count += 16;
    elapsed = process.hrtime.bigint() - begun;
  }
  return Number(elapsed) / count;
}

function measured({ measure, context, seconds }) {
  const nanoseconds = BigInt(Math.round((seconds * 1e9) / ROUNDS));
  return measure.map((text) => {
    repeated(text, context, nanoseconds);
    return Math.min(...Array.from({ length: ROUNDS }, () => repeated(text, context, nanoseconds)));
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const answered = asked.evaluate ? asked.evaluate.map(answer) : measured(asked);
  process.stdout.write(JSON.stringify(answered, plain) + '\n');
}
