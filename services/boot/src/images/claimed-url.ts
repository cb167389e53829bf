import { withinOrigin } from '@metal/http/within-origin.ts';
import { type Artefact, urlArtefact } from './artefact.ts';
import { BootError } from '../errors.ts';

/**
 * A file at a URL of a claim. All failures have the same message, as conditions must not reveal which addresses respond; the cause
 * is logged.
 */
export function claimedArtefact(url: URL, fetch: typeof globalThis.fetch): Artefact {
  const artefact = urlArtefact(url, withinOrigin(fetch));
  return {
    name: artefact.name,
    check: (signal) => withUniformError(artefact.check(signal)),
    deliver: (request) => withUniformError(artefact.deliver(request)),
  };
}

async function withUniformError<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (cause) {
    throw new BootError(
      'ImageUnavailable',
      'a file of the image cannot be fetched; expected vmlinuz and initrd below its URL; the log of the boot service has the cause',
      cause,
    );
  }
}
