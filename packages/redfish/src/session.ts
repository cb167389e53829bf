/** Who we are at a BMC: a session token where the BMC offers sessions, else Basic for each request. */
export type Standing =
  | { readonly kind: 'none' }
  | { readonly kind: 'session'; readonly token: string; readonly location: string | undefined }
  | { readonly kind: 'basic'; readonly header: string }
  | { readonly kind: 'rejected'; readonly message: string };

export function basicHeader(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}
