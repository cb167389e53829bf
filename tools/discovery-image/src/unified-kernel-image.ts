import { stat } from 'node:fs/promises';
import { tool } from './tool.ts';

export interface UnifiedParts {
  /** The EFI stub that firmware starts. */
  readonly stub: string;
  /** Files, by section. */
  readonly sections: Readonly<Record<string, string>>;
}

const pageBytes = 4_096;

/**
 * Combines kernel, initrd and command line into one file for firmware. Sections follow those of the stub and do not overlap:
 * firmware accepts a file with other addresses and hangs silently.
 */
export async function buildUnifiedKernelImage(parts: UnifiedParts, output: string): Promise<void> {
  let address = roundUp(endOfSections(await tool('objdump', ['-h', '-w', parts.stub])));
  const parameters: string[] = [];
  for (const [section, file] of Object.entries(parts.sections)) {
    parameters.push('--add-section', `${section}=${file}`);
    parameters.push('--change-section-vma', `${section}=0x${address.toString(16)}`);
    parameters.push('--set-section-flags', `${section}=data,readonly`);
    address = roundUp(address + (await stat(file)).size);
  }
  await tool('objcopy', ['--preserve-dates', ...parameters, parts.stub, output]);
}

/** @param table Output of `objdump -h`: index, name, size, address. */
export function endOfSections(table: string): number {
  const ends = [...table.matchAll(/^\s*\d+ \S+\s+([0-9a-f]{8})\s+([0-9a-f]{16})\s/gm)].map(
    ([, size = '', address = '']) => Number.parseInt(size, 16) + Number.parseInt(address, 16),
  );
  return Math.max(0, ...ends);
}

const roundUp = (address: number): number => Math.ceil(address / pageBytes) * pageBytes;
