import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where what was built or fetched once is kept for the user, by the XDG Base Directory Specification. */
export function cacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const root = environment.XDG_CACHE_HOME ?? join(environment.HOME ?? homedir(), '.cache');
  return join(root, 'metal-operator');
}
