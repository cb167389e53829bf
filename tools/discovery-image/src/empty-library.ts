import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tool } from './tool.ts';

/** Builds a library with that name and only that symbol. @returns its path. */
export async function emptyLibrary(name: string, symbol: string, scratch: string): Promise<string> {
  const source = join(scratch, `${name}.s`);
  const [object, library] = [join(scratch, `${name}.o`), join(scratch, name)];
  await writeFile(
    source,
    `.section .rodata\n.globl ${symbol}\n.type ${symbol},@object\n.size ${symbol},64\n${symbol}:\n.zero 64\n.section .note.GNU-stack\n`,
  );
  await tool('as', ['-o', object, source]);
  await tool('ld', ['-shared', '-s', '-soname', name, '-o', library, object]);
  return library;
}
