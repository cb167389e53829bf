import { homedir } from 'node:os';
import { join } from 'node:path';

/** Cache directory of the user for built and downloaded files (XDG Base Directory Specification). */
export function cacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const root = environment.XDG_CACHE_HOME ?? join(environment.HOME ?? homedir(), '.cache');
  return join(root, 'metal-operator');
}
