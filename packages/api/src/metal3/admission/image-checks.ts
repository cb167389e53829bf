import type { AdmissionCheck } from '@metal/kube/kinds/admission.ts';
import { listOf } from './cel-text.ts';

const imageSchemes = ['http', 'https', 'ftp', 'gopher', 'oci'];

/** CEL: Ironic can fetch from this URL. */
export const isImageUrl = (url: string): string =>
  `(isURL(${url}) && url(${url}).getScheme() in ${listOf(imageSchemes)})`;

export const expectedImageUrl = `expected a URL with scheme ${imageSchemes.slice(0, -1).join(', ')} or ${imageSchemes.at(-1)}`;

/** Rules for the image of `object`, a path like `object.spec`. */
export function imageChecks(object: string): AdmissionCheck[] {
  const image = `${object}.image`;
  const hasChecksum = `(has(${image}.checksum) && ${image}.checksum != '')`;
  const isOci = `${image}.url.lowerAscii().startsWith('oci://')`;
  const isLiveIso = `(has(${image}.format) && ${image}.format == 'live-iso')`;
  return [
    {
      holds: `!has(${image}) || ${isImageUrl(`${image}.url`)}`,
      message: `'spec.image.url: ${expectedImageUrl}, found "' + ${image}.url + '"'`,
    },
    {
      holds: `!has(${image}) || !${isOci} || !${hasChecksum}`,
      message: `'spec.image.checksum: expected none for an oci URL, whose manifest has the checksum: remove it'`,
    },
    {
      holds: `!has(${image}) || ${isOci} || ${isLiveIso} || ${hasChecksum}`,
      message: `'spec.image.checksum: expected a checksum, or the URL of a file with it, found none: set it, so that a damaged image is not deployed'`,
    },
  ];
}
