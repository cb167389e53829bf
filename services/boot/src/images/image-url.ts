import { BootError } from '../errors.ts';

/** Origin and path; user information and query may contain credentials. */
export const printableUrl = ({ protocol, username, password, host, pathname, search }: URL): string =>
  `${protocol}//${username + password === '' ? '' : '…@'}${host}${pathname}${search === '' ? '' : '?…'}`;

/** Whether the URL has a user name or a password, which fetch rejects. */
export function hasUserInfo(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.username !== '' || url.password !== '');
}

/** spec.image in one word and without credentials, also if it is no valid URL. */
export const printableImage = (text: string): string =>
  text
    .slice(0, 200)
    .replaceAll(/\s+/g, '␠')
    .replace(/\/\/[^/]*@/, '//…@')
    .replace(/\?.*$/s, '?…');

export const originNotAllowed = ({ origin }: URL): BootError =>
  new BootError(
    'ImageOriginNotAllowed',
    `image origin ${origin} is not allowed; expected one that --allowed-image-origins names`,
  );
