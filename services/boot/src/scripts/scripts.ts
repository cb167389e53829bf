import type { BootImage } from '../images/boot-plan.ts';

export interface MachineBoot {
  /** Shown on the console. */
  readonly server: string;
  /** The base URL of this boot, with its token. */
  readonly bootUrl: string;
  readonly image: BootImage;
  readonly withIgnition: boolean;
}

/** Chains to the script of the machine: iPXE inserts its UUID. After five failures the firmware continues with its next boot device. */
export const entryScript = (publicUrl: string): string => `#!ipxe
:ask
set tries:string \${tries}x
chain --replace --autofree ${publicUrl}/ipxe/\${uuid} || echo No boot script for system \${uuid} (is there a Server with that UUID?)
iseq \${tries} xxxxx && exit 1 ||
sleep 5
goto ask
`;

/**
 * Loads kernel and initrd and starts them. It retries until it succeeds or the machine is powered off; the machine boots nothing
 * else. An image with only a UKI is started as an EFI program.
 */
export function machineScript(boot: MachineBoot): string {
  const { server, image } = boot;
  const load = image.kernel === undefined || image.initrd === undefined ? ukiCommands(boot) : kernelCommands(boot);
  return `#!ipxe
echo Booting ${server}
:load
${load}
:again
echo Could not boot ${server}, trying again
imgfree
sleep 5
goto load
`;
}

function kernelCommands({ bootUrl, image, withIgnition }: MachineBoot): string {
  const root = image.squashfs === undefined ? [] : ['gl.ovl=/:tmpfs', `gl.url=${bootUrl}/squashfs`, 'gl.live=1'];
  const ignition = withIgnition
    ? [`ignition.firstboot=1`, `ignition.platform.id=metal`, `ignition.config.url=${bootUrl}/ignition`]
    : [];
  const parameters = ['initrd=initrd', ...root, image.commandLine, ...ignition, `metal.boot.evidence=${bootUrl}/booted`]
    .filter((part) => part !== '')
    .join(' ');
  return `kernel ${bootUrl}/kernel ${parameters} || goto again
initrd ${bootUrl}/initrd || goto again
boot || goto again`;
}

/**
 * A custom script, preceded by settings for the URL of this boot and the name of its server. Its own first line is a comment here.
 */
export const customScript = ({ server, bootUrl, text }: { server: string; bootUrl: string; text: string }): string =>
  `#!ipxe
set metal-boot-url ${bootUrl}
set metal-server ${server}
${text}`;

const ukiCommands = ({ bootUrl }: MachineBoot): string => `chain ${bootUrl}/uki.efi || goto again`;

/** Contains no token, for a client that is not verified as the machine: it retries. */
export const heldScript = (server: string, reason: string, publicUrl: string): string => `#!ipxe
echo ${server} waits: ${reason}
sleep 10
chain --replace --autofree ${publicUrl}/ipxe/
`;

/** For machines without a network boot: the firmware continues with its next boot device. */
export const localBootScript = (server: string, reason: string): string => `#!ipxe
echo ${server} boots from its next device: ${reason.replace(/[^ -~]|[$|&#]/g, ' ')}
exit 1
`;
