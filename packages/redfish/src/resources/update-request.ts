import type { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { Password } from '../http/password.ts';

export interface UpdateRequest {
  /** For Pull. */
  readonly imageUri?: string | undefined;
  readonly transferProtocol?: string | undefined;
  /** User of the server of the image, for Pull. */
  readonly username?: string | undefined;
  readonly password?: Password | undefined;
  /** Also installs the same or an older version. */
  readonly force?: boolean | undefined;
  /** Paths of the firmware or devices to update; the BMC decides by the image when there are none. */
  readonly targets?: readonly string[] | undefined;
  /** What the image is for: found in the inventory by a BMC that needs targets. */
  readonly component?: 'BIOS' | 'BMC' | undefined;
  /** Pull unless given. */
  readonly delivery?: 'Pull' | 'Push' | undefined;
  /** For Push. Called again when the BMC wants a new login first. */
  readonly open?: (() => Promise<ImageToPush>) | undefined;
}

export interface ImageToPush {
  /** Bytes. */
  readonly size: number;
  readonly stream: ReadableStream | Readable;
  readonly fileName: string;
}
