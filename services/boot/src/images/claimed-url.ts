import { type Artefact, urlArtefact } from './artefact.ts';
import { BootError } from '../errors.ts';

const maxRedirects = 5;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

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

/** Follows redirects within the origin of the URL. */
function withinOrigin(fetch: typeof globalThis.fetch): (url: URL, init: RequestInit) => Promise<Response> {
  return async (start, init) => {
    let url = start;
    for (let hops = 0; hops <= maxRedirects; hops += 1) {
      const response = await fetch(url, { ...init, redirect: 'manual' });
      const location = response.headers.get('location');
      if (!redirects.includes(response.status) || location === null) return response;
      await response.body?.cancel();
      const next = URL.parse(location, url);
      if (next?.origin !== start.origin)
        throw new Error(`it redirects to ${next?.origin ?? 'nowhere'}; expected ${start.origin}`);
      url = next;
    }
    throw new Error(`it redirects more than ${maxRedirects} times`);
  };
}
