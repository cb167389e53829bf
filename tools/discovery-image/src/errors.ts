/** Why an image cannot be built. */
export type ImageErrorCode =
  /** A program that the build needs is not installed. */
  | 'ToolMissing'
  /** apt knows no packages, or not these. */
  | 'PackagesUnknown'
  | 'DownloadFailed'
  /** The recipe names what no package has. */
  | 'RecipeIncomplete';

/** The message says what to do. */
export class ImageError extends Error {
  readonly code: ImageErrorCode;
  constructor(code: ImageErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ImageError';
    this.code = code;
  }
}
