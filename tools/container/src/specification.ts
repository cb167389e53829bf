import type { Readable } from 'node:stream';

export interface Mount {
  readonly source: string;
  /** Has to exist in the image for bwrap. */
  readonly target: string;
  readonly readOnly?: boolean;
}

/** What a runtime is to start. */
export interface Specification {
  readonly rootDirectory: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly uid: number;
  readonly gid: number;
  readonly capabilities: readonly string[];
  readonly networkNamespace: string | undefined;
  /** For files of the runtime; removed after the end. */
  readonly directory: string;
}

export interface Started {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The exit code; 128 and the number of the signal after a signal. */
  readonly ended: Promise<number>;
  /** Sends a signal to the first process of the container. */
  readonly signal: (name: 'SIGTERM' | 'SIGKILL') => Promise<void>;
}
