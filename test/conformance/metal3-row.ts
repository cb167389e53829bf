import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { Kind } from '@metal/kube/kinds/kind.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** An object that the API server accepts, or rejects with this text. */
export interface CreatedRow {
  readonly title: string;
  readonly kind: Kind;
  readonly name?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: Fields;
  readonly rejected?: string;
}

/** A change of an accepted object. */
export interface ChangedRow extends CreatedRow {
  /** State of the host, and its operational status. */
  readonly state?: string;
  readonly operational?: string;
  readonly change: object;
}

export const bmc = (address: string) => ({ bmc: { address, credentialsName: 'c' } });
export const image = (fields: Fields) => ({
  image: { url: 'https://images.example/os.qcow2', checksum: 'c', ...fields },
});
export const redfish = bmc('redfish://192.0.2.7/redfish/v1/Systems/1');
export const ipmi = bmc('192.0.2.7');
export const bootMACAddress = 'aa:bb:cc:dd:ee:ff';
export const host = (
  title: string,
  spec: Fields,
  rejected?: string,
  annotations?: Record<string, string>,
): CreatedRow => ({
  title: `BareMetalHost ${title}`,
  kind: BareMetalHost,
  spec: { online: true, ...spec },
  ...(rejected === undefined ? {} : { rejected }),
  ...(annotations === undefined ? {} : { annotations }),
});
export const other = (kind: Kind, title: string, spec: Fields, rejected?: string): CreatedRow => ({
  title: `${kind.kind} ${title}`,
  kind,
  spec,
  ...(rejected === undefined ? {} : { rejected }),
});
