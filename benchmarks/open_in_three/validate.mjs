// node validate.mjs FILES: prints how many errors and warnings the Khronos validator finds, and which, as JSON.
import { readFileSync } from 'node:fs';
import validator from 'gltf-validator';

const found = { errors: 0, warnings: 0, messages: new Set() };
for (const file of process.argv.slice(2)) {
  const { issues } = await validator.validateBytes(new Uint8Array(readFileSync(file)));
  found.errors += issues.numErrors;
  found.warnings += issues.numWarnings;
  for (const { severity, code, message } of issues.messages) if (severity < 2) found.messages.add(`${code}: ${message}`);
}
console.log(JSON.stringify({ ...found, messages: [...found.messages].slice(0, 10) }));
