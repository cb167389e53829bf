import { readFileSync } from 'node:fs';

/** The version in the package.json of the package whose `src` contains the module, for `--version`. */
export function versionOf(moduleUrl: string): string {
  // Written by this project.
  const { version } = JSON.parse(readFileSync(new URL('../package.json', moduleUrl), 'utf8')) as { version: string };
  return `${version} (Node.js ${process.versions.node})`;
}
