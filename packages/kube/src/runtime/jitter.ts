/**
 * The interval, shortened by up to a tenth or that part of it, always by the same amount for the same name: a fleet that
 * started together does not look at its BMCs in step.
 */
export function jitter(intervalMs: number, name: string, part = 1 / 10): number {
  const fraction = (hashOf(name) & 0xffff) / 0xffff;
  return Math.round(intervalMs * (1 - fraction * part));
}

/** FNV-1a with a last stir, so that names which differ in their last digit lie far apart. It is asked for in every turn. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index += 1) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
