import { createSocket } from 'node:dgram';

/**
 * A DHCP client as firmware is one, without an interface of its own: it says what it is told to, and shows the answers.
 * Run as a program (in the network namespace of a client) with a list of wishes as JSON; prints the list of answers.
 */
export interface DhcpWish {
  readonly mac: string;
  /** Option 60. */
  readonly vendorClass?: string;
  /** Option 77. */
  readonly userClass?: string;
  /** Option 93. */
  readonly architecture?: number;
  /** Take the address, too. */
  readonly takes?: boolean;
}

export interface DhcpAnswer {
  readonly ip: string;
  /** Who serves files by TFTP. */
  readonly nextServer: string;
  /** Option 67, or the field of BOOTP. */
  readonly bootFile: string | undefined;
  readonly vendorClass: string | undefined;
  readonly router: string | undefined;
  readonly netmask: string | undefined;
}

const cookie = Buffer.from([0x63, 0x82, 0x53, 0x63]);
const wantedOptions = [1, 3, 6, 43, 60, 66, 67];
const longestMs = 20_000;

type Options = ReadonlyMap<number, Buffer>;

function messageOf(id: number, wish: DhcpWish, type: number, more: readonly (readonly [number, Buffer])[]): Buffer {
  const header = Buffer.alloc(236);
  header.set([1, 1, 6, 0]);
  header.writeUInt32BE(id, 4);
  // Answers are broadcast: this client has no address.
  header.writeUInt16BE(0x8000, 10);
  header.set(Buffer.from(wish.mac.replaceAll(':', ''), 'hex'), 28);
  const options: (readonly [number, Buffer])[] = [
    [53, Buffer.from([type])],
    [55, Buffer.from(wantedOptions)],
    [57, Buffer.from([5, 220])],
    ...more,
    ...(wish.vendorClass === undefined ? [] : [[60, Buffer.from(wish.vendorClass)] as const]),
    ...(wish.userClass === undefined ? [] : [[77, Buffer.from(wish.userClass)] as const]),
    ...(wish.architecture === undefined ? [] : [[93, Buffer.from([0, wish.architecture])] as const]),
  ];
  const bodies = options.map(([code, value]) => Buffer.concat([Buffer.from([code, value.length]), value]));
  return Buffer.concat([header, cookie, ...bodies, Buffer.from([255])]);
}

function optionsOf(message: Buffer): Options {
  const options = new Map<number, Buffer>();
  for (let at = 240; at < message.length && message[at] !== 255; ) {
    const code = message[at] ?? 255;
    const length = code === 0 ? -1 : (message[at + 1] ?? 0);
    if (code !== 0) options.set(code, message.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return options;
}

const text = (bytes: Buffer | undefined): string | undefined => bytes?.toString('latin1').replace(/\0.*$/s, '');
const address = (bytes: Buffer | undefined): string | undefined => bytes && [...bytes.subarray(0, 4)].join('.');

function answerOf(message: Buffer, options: Options): DhcpAnswer {
  const field = text(message.subarray(108, 236));
  return {
    ip: address(message.subarray(16, 20)) ?? '',
    nextServer: address(message.subarray(20, 24)) ?? '',
    bootFile: text(options.get(67)) ?? (field === '' ? undefined : field),
    vendorClass: text(options.get(60)),
    router: address(options.get(3)),
    netmask: address(options.get(1)),
  };
}

/**
 * Asks in the given order. Done when the last one is answered, and those have an address that were offered one: whoever
 * is not answered by then is not answered.
 */
async function ask(wishes: readonly DhcpWish[]): Promise<(DhcpAnswer | undefined)[]> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true });
  const answers: (DhcpAnswer | undefined)[] = wishes.map(() => undefined);
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, longestMs);
  const taking = new Set<number>();
  const send = (message: Buffer) => socket.send(message, 67, '255.255.255.255');
  socket.on('message', (message) => {
    const index = message.readUInt32BE(4) - 1_000;
    const wish = wishes[index];
    if (message[0] !== 2 || wish === undefined) return;
    const options = optionsOf(message);
    const isOffer = options.get(53)?.[0] === 2;
    if (isOffer && wish.takes === true) {
      const server = options.get(54) ?? Buffer.alloc(4);
      taking.add(index);
      send(
        messageOf(1_000 + index, wish, 3, [
          [50, message.subarray(16, 20)],
          [54, server],
        ]),
      );
      return;
    }
    answers[index] = answerOf(message, options);
    taking.delete(index);
    if (answers.at(-1) !== undefined && taking.size === 0) resolve();
  });
  socket.bind(68, () => {
    socket.setBroadcast(true);
    wishes.forEach((wish, index) => send(messageOf(1_000 + index, wish, 1, [])));
  });
  await promise;
  clearTimeout(timer);
  socket.close();
  return answers;
}

if (process.argv[1]?.endsWith('dhcp-client.ts') === true) {
  // Written by the network of the lab.
  const wishes = JSON.parse(process.argv[2] ?? '[]') as DhcpWish[];
  const answers = await ask(wishes);
  process.stdout.write(JSON.stringify(answers.map((answer) => answer ?? null)));
}
