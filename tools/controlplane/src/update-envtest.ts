import { readFile, writeFile } from 'node:fs/promises';
import { pinsFile } from './envtest.ts';
import { pinsFrom } from './envtest-releases.ts';
import { readRecipe } from './recipe.ts';

const publishedAt = 'https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/main/envtest-releases.yaml';

// Pins the newest envtest release with the minor version of go.mod. The argument is another URL, or a file.
const [source = publishedAt] = process.argv.slice(2);
const text = await (source.startsWith('https://') ? download(source) : readFile(source, 'utf8'));
const { kubernetes } = await readRecipe(process.env);
const pins = pinsFrom(text, kubernetes.split('.').slice(0, 2).join('.'));
await writeFile(pinsFile, `${JSON.stringify(pins, undefined, 2)}\n`);
process.stdout.write(`${pins.version} is pinned in ${pinsFile}\n`);

async function download(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`expected a list of releases at ${url}, found HTTP ${response.status}`);
  return response.text();
}
