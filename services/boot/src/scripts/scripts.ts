import type { BootImage } from '../images/boot-plan.ts';

export interface MachineBoot {
  /** For people who read the console. */
  readonly server: string;
  /** Base of this boot's own addresses, with its token. */
  readonly bootUrl: string;
  readonly image: BootImage;
  readonly withIgnition: boolean;
}

/** Leads any machine to the script made for it: iPXE fills in the UUID. After some tries the next boot device has its turn. */
export const entryScript = (publicUrl: string): string => `#!ipxe
:ask
set tries:string \${tries}x
chain --replace --autofree ${publicUrl}/ipxe/\${uuid} || echo No boot script for system \${uuid} (is there a Server with that UUID?)
iseq \${tries} xxxxx && exit 1 ||
sleep 5
goto ask
`;

/**
 * Loads kernel and initrd and starts them. A machine that was sent here never boots anything else: it tries again
 * until it succeeds or is switched off. An image that is a UKI only is started as the EFI program that it is.
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
 * A script that a person wrote, behind settings of ours: where the files of this boot are, and whose boot it is. Its own
 * first line is a comment here.
 */
export const customScript = ({ server, bootUrl, text }: { server: string; bootUrl: string; text: string }): string =>
  `#!ipxe
set metal-boot-url ${bootUrl}
set metal-server ${server}
${text}`;

const ukiCommands = ({ bootUrl }: MachineBoot): string => `chain ${bootUrl}/uki.efi || goto again`;

/** Without a token, for a client that may be the machine and is not known to be: it asks again. */
export const heldScript = (server: string, reason: string, publicUrl: string): string => `#!ipxe
echo ${server} waits: ${reason}
sleep 10
chain --replace --autofree ${publicUrl}/ipxe/
`;

/** For machines that start from the network without having been asked to: hand over to the next boot device. */
export const localBootScript = (server: string, reason: string): string => `#!ipxe
echo ${server} boots from its next device: ${reason.replace(/[^ -~]|[$|&#]/g, ' ')}
exit 1
`;
