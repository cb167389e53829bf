/**
 * The interval, shortened by up to `part` of it, always by the same amount for a name: a fleet that started together does
 * not refresh its BMCs in step.
 */
export function jitter(intervalMs: number, name: string, part = 1 / 10): number {
  const fraction = (hashOf(name) & 0xffff) / 0xffff;
  return Math.round(intervalMs * (1 - fraction * part));
}

/** FNV-1a with a finalizer, so that names which differ in the last digit are far apart. Fast: every reconcile calls it. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index += 1) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
