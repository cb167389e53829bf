const sectorBytes = 2_048;
const [bootRecord, terminator, catalog, system, end] = [17, 18, 19, 20, 21];

/** A CD whose system is one sector, started by a BIOS without emulation (El Torito). It has no files. */
export function bootableIso(bootSector: Buffer): Buffer {
  const iso = Buffer.alloc(end * sectorBytes);
  writeDescriptor(iso, bootRecord, 0);
  iso.write('EL TORITO SPECIFICATION', bootRecord * sectorBytes + 7, 'latin1');
  iso.writeUInt32LE(catalog, bootRecord * sectorBytes + 71);
  writeDescriptor(iso, terminator, 255);
  // Validation entry, whose words add up to zero; then the entry of the system.
  iso.set([0x01], catalog * sectorBytes);
  iso.set([0xaa, 0x55, 0x55, 0xaa], catalog * sectorBytes + 28);
  iso.set([0x88], catalog * sectorBytes + 32);
  iso.writeUInt16LE(sectorBytes / 512, catalog * sectorBytes + 38);
  iso.writeUInt32LE(system, catalog * sectorBytes + 40);
  bootSector.copy(iso, system * sectorBytes);
  return iso;
}

function writeDescriptor(iso: Buffer, sector: number, type: number): void {
  iso.set([type], sector * sectorBytes);
  iso.write('CD001\u0001', sector * sectorBytes + 1, 'latin1');
}
