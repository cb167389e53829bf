const maxRedirects = 5;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

/** The server redirects where a fetch within its origin does not follow. */
export class RedirectError extends Error {
  override readonly name = 'RedirectError';
}

/**
 * A fetch that follows redirects within the origin of the URL, five times at most.
 * @throws RedirectError for any other redirect; no request is sent there
 */
export function withinOrigin(fetch: typeof globalThis.fetch): (url: URL, init: RequestInit) => Promise<Response> {
  return async (start, init) => {
    let url = start;
    for (let hops = 0; hops <= maxRedirects; hops += 1) {
      const response = await fetch(url, { ...init, redirect: 'manual' });
      const location = response.headers.get('location');
      if (!redirects.includes(response.status) || location === null) return response;
      await response.body?.cancel();
      const next = URL.parse(location, url);
      if (next?.origin !== start.origin)
        throw new RedirectError(`it redirects to ${next?.origin ?? 'nowhere'}; expected ${start.origin}`);
      url = next;
    }
    throw new RedirectError(`it redirects more than ${maxRedirects} times`);
  };
}
