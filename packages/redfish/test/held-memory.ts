import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of the heap that are held by what is made, for one of many. */
export function heldBytes(make: (index: number) => unknown): number {
  const count = 200;
  make(-1);
  const before = usedHeap();
  const held = Array.from({ length: count }, (_, index) => make(index));
  const bytes = (usedHeap() - before) / count;
  return held.length === count ? bytes : Number.NaN;
}

function usedHeap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
