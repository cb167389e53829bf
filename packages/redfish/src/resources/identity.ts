import { createHash } from 'node:crypto';

/** The UUID that identifies a machine. */
export interface Identity {
  /** Lower case; undefined when none is reported and none can be derived. */
  readonly uuid: string | undefined;
  /** The source of a derived UUID; undefined when the machine reports its own. */
  readonly uuidDerivedFrom: (typeof sources)[keyof typeof sources] | undefined;
  /**
   * Only for a UUID that is derived from a serial number: the one that is derived if the serial number is, or is not, shared
   * with other systems of the BMC. A Server that was created under it is the same machine.
   */
  readonly alternativeUuid?: string | undefined;
}

/** Source of a UUID that no other system of the BMC gets, although others have the same serial number. */
export const derivedWithUri = 'manufacturer, serial number and system URI';

const sources = {
  serial: 'manufacturer and serial number',
  sharedSerial: derivedWithUri,
  service: 'service UUID and system id',
} as const;

export interface IdentitySource {
  readonly uuid: string | undefined;
  readonly manufacturer: string | undefined;
  readonly serialNumber: string | undefined;
  readonly systemId: string;
  /** UUID of the Redfish service, which is the UUID of the BMC. */
  readonly serviceUuid: string | undefined;
  /** Other systems of the BMC have, or may have, the same serial number, such as that of their blade. */
  readonly isSerialShared?: boolean | undefined;
}

/**
 * The UUID that the machine reports; otherwise a deterministic one from manufacturer and serial number, with the place of the
 * system where several have the same serial number; otherwise from the service UUID of the BMC and the system id, which a
 * replaced mainboard changes.
 */
export function identityOf(source: IdentitySource): Identity {
  const own = realUuid(source.uuid);
  if (own !== undefined) return { uuid: own, uuidDerivedFrom: undefined };
  const { manufacturer, systemId, isSerialShared = false } = source;
  const serial = realSerial(source.serialNumber);
  if (serial !== undefined && manufacturer !== undefined) {
    const name = `serial/${manufacturer.toLowerCase()}/${serial.toLowerCase()}`;
    const alone = nameBased(name);
    // Without the service UUID: two managers of one enclosure must not make two machines of each of its systems.
    const shared = nameBased(`${name}/system/${systemId}`);
    return isSerialShared
      ? { uuid: shared, uuidDerivedFrom: sources.sharedSerial, alternativeUuid: alone }
      : { uuid: alone, uuidDerivedFrom: sources.serial, alternativeUuid: shared };
  }
  const service = realUuid(source.serviceUuid);
  if (service === undefined) return { uuid: undefined, uuidDerivedFrom: undefined };
  return { uuid: nameBased(`service/${service}/${systemId}`), uuidDerivedFrom: sources.service };
}

/** The UUID is that of the machine, as reported or derived now, or as it was derived before. In any letter case. */
export const hasUuid = (
  { uuid, alternativeUuid }: Pick<Identity, 'uuid' | 'alternativeUuid'>,
  expected: string,
): boolean => [uuid, alternativeUuid].some((each) => each?.toLowerCase() === expected.toLowerCase());

/** Boards without a UUID report zeros, ones, or the sample value of the firmware vendor (AMI). */
function realUuid(text: string | undefined): string | undefined {
  const uuid = text?.toLowerCase();
  return uuid === undefined || /^[0-]*$|^[f-]*$|^03000200-0400-0500-0006-000700080009$/.test(uuid) ? undefined : uuid;
}

/** Values of firmware for a field that was not filled in. Many machines have the same. */
const placeholders =
  /^(to be filled.*|default string|not (specified|available|applicable)|none|null|n\/?a|unknown|system serial number|[0x. -]*|0?123456789.*|f+)$/i;

function realSerial(text: string | undefined): string | undefined {
  const serial = text?.trim();
  return serial === undefined || placeholders.test(serial) ? undefined : serial;
}

/** Namespace of the names. Arbitrary, but it must never change. */
const namespace = Buffer.from('6f1d3c5e2b7a4f0c9d8e71a2b3c4d5e6', 'hex');

/** RFC 9562 version 5: a name always gives the same UUID. */
function nameBased(name: string): string {
  const bytes = createHash('sha1').update(namespace).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
