import type { BackEndName } from './options.ts';
import type { BackEnd } from './provisioner/back-end.ts';

/** The back ends that this process has. To add one, add a line. */
export function builtInBackEnds(): Readonly<Partial<Record<BackEndName, BackEnd>>> {
  return {};
}
