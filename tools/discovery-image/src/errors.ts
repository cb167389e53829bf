/** Error codes of a build. */
export type ImageErrorCode =
  /** A required program is not installed. */
  | 'ToolMissing'
  /** The package lists of apt lack packages of the image. */
  | 'PackagesUnknown'
  | 'DownloadFailed'
  /** The packages of the container image are not those of its lock file. */
  | 'LockOutdated'
  /** The recipe names a file that no package has. */
  | 'RecipeIncomplete';

/** The message has the remedy. */
export class ImageError extends Error {
  readonly code: ImageErrorCode;
  constructor(code: ImageErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ImageError';
    this.code = code;
  }
}
