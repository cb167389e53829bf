import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestRate } from '@metal/http/rate-limit.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Logger } from 'pino';
import type { BootAuthorizer } from '../authorization/boot-authorizer.ts';
import type { BootClients } from '../authorization/boot-clients.ts';
import type { KnownMachines } from '../authorization/known-machines.ts';
import type { Butane } from '../ignition/butane.ts';
import type { BootImages } from '../images/images.ts';
import type { FirmwareImages } from '../images/firmware-images.ts';
import type { DiskImages } from '../images/disk/disk-images.ts';
import type { OciImages } from '../images/oci/oci-images.ts';
import type { BootProgressRecorder } from '../progress/boot-progress-recorder.ts';

export interface RoutesOptions {
  auth: 'token' | 'none';
  client: KubeClient;
  butane: Butane;
  known: KnownMachines;
  clients: BootClients;
  /** Whether the address is that of a trusted proxy. */
  isTrustedProxy: (address: string) => boolean;
  oci: OciImages | undefined;
  /** Undefined where nothing can be stored. */
  diskImages: DiskImages | undefined;
  /** Undefined where nothing can be stored. */
  firmware: FirmwareImages | undefined;
  defaultUkiImage: string | undefined;
  ipxeDirectory: string | undefined;
  machines: BootAuthorizer;
  images: BootImages;
  progress: BootProgressRecorder;
  clock: Clock;
  log: Logger;
  bootTokenKey: () => Promise<Uint8Array>;
  publicUrl: () => string;
  /** Whether one more download may start. */
  mayDownload: (socket: Socket, response: ServerResponse) => boolean;
  /** Per client address; downloads are not counted. */
  rateLimit?: RequestRate | undefined;
}
