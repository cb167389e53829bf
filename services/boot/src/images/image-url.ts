/** Origin and path: user information and query may hold credentials. */
export const printableUrl = ({ protocol, username, password, host, pathname, search }: URL): string =>
  `${protocol}//${username + password === '' ? '' : '…@'}${host}${pathname}${search === '' ? '' : '?…'}`;

/** Whether a user name or a password stands before the host; fetch refuses such a URL. */
export function hasUserInfo(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.username !== '' || url.password !== '');
}

/** An image as somebody wrote it, which may be no URL that is understood. */
export const printableImage = (text: string): string =>
  text
    .slice(0, 200)
    .replace(/\/\/[^/]*@/, '//…@')
    .replace(/\?.*$/s, '?…');
