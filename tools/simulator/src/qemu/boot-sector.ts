/** The action of a one-sector system after it has written its text to the serial console. */
export type BootSectorEnd = 'powers off' | 'obeys the power button' | 'resets' | 'stays';

// Ports of a q35 machine: PM1a event and enable at 0x600 and 0x602, PM1a control at 0x604, reset control at 0xcf9.
const powerOff = [0xba, 0x04, 0x06, 0xb8, 0x00, 0x20, 0xef]; // mov dx, 0x604; mov ax, SLP_EN; out dx, ax
const halt = [0xf4, 0xeb, 0xfd]; // hlt; jmp back
const ends: Readonly<Record<BootSectorEnd, readonly number[]>> = {
  'powers off': [...powerOff, ...halt],
  'obeys the power button': [
    [0xba, 0x00, 0x06], // mov dx, 0x600
    [0xed, 0xf6, 0xc4, 0x01, 0x74, 0xfa], // wait: in ax, dx; test ah, PWRBTN_STS; jz wait
    powerOff,
    halt,
  ].flat(),
  resets: [0xba, 0xf9, 0x0c, 0xb0, 0x06, 0xee, ...halt], // mov dx, 0xcf9; mov al, 6; out dx, al
  stays: halt,
};

// Before the text, as a reader of the text may press the button at once: mov dx, 0x602; mov ax, PWRBTN_EN; out dx, ax
const listen = [0xba, 0x02, 0x06, 0xb8, 0x00, 0x01, 0xef];

const loadedAt = 0x7c00;
const sectorBytes = 512;

/** A system for the first sector of a disk, started by a BIOS. The text is ASCII, and short. */
export function bootSector(text: string, end: BootSectorEnd): Buffer {
  const printCode = (at: number) =>
    [
      [0xfa, 0x31, 0xc0, 0x8e, 0xd8], // cli; xor ax, ax; mov ds, ax
      listen,
      [0xbe, at & 0xff, at >> 8, 0xba, 0xf8, 0x03], // mov si, text; mov dx, COM1
      [0xac, 0x84, 0xc0, 0x74, 0x03, 0xee, 0xeb, 0xf8], // next: lodsb; test al, al; jz end; out dx, al; jmp next
    ].flat();
  const textAt = loadedAt + printCode(0).length + ends[end].length;
  const sector = Buffer.alloc(sectorBytes);
  Buffer.from([...printCode(textAt), ...ends[end], ...Buffer.from(`\r\n${text}\r\n\0`)]).copy(sector);
  sector.writeUInt16LE(0xaa55, sectorBytes - 2);
  return sector;
}
