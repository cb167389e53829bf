/** Error codes of a release. */
export type ReleaseErrorCode =
  | 'VersionInvalid'
  /** package.json has another version. */
  | 'VersionDiffers'
  /** The checkout has changes that no commit has. */
  | 'TreeModified'
  /** The CHANGELOG has no section of the version, or an empty one. */
  | 'NotesMissing'
  | 'SigningKeyInvalid'
  /** The output directory has files that no release wrote. */
  | 'OutputInUse'
  | 'RegistryInvalid'
  /** The directory has no release, or one with other files than it was built with. */
  | 'ReleaseDamaged'
  /** The registry has another image of the version. */
  | 'TagTaken'
  /** The registry changed an image. */
  | 'DigestDiffers';

/** The message has the remedy. */
export class ReleaseError extends Error {
  readonly code: ReleaseErrorCode;
  constructor(code: ReleaseErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ReleaseError';
    this.code = code;
  }
}
