import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

/** Reasons of the boot service and the registry on boot configurations; the names are those of v0.7.0. */
export const bootServiceReasons = {
  ValidationFailed: {
    meaning:
      'Image, ignition or iPXE script cannot be booted; the condition ImageValidation, IgnitionValidation or ScriptValidation says which and why.',
    remedy: 'Correct what the message names; the boot service looks again by itself.',
    weight: 'failed',
    actor: 'tenant',
    command: 'kubectl describe serverbootconfiguration -n {namespace} {name}',
  },
  ImagePulling: {
    meaning:
      'The files of the image are being pulled from their registry; the server is powered on when they are whole.',
    remedy: 'Nothing; if it takes long, look at the way to the registry.',
    weight: 'working',
    actor: 'operator',
  },
  BootConfigTaken: {
    meaning:
      'Boots are published for other programs, and an IPXEBootConfig or HTTPBootConfig with the name of this boot belongs to somebody else.',
    remedy: 'Delete that object if nobody needs it; the boot itself goes on.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl get ipxebootconfigs,httpbootconfigs -n {namespace} {name}',
  },
  ScriptOverdue: {
    meaning: 'The server was powered on, and its firmware did not fetch its boot script in time.',
    remedy:
      'Look at the console: is the network first in the boot order for once, does DHCP answer on that network, does it lead to this boot service, has the machine the system UUID that its BMC tells?',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl describe serverbootconfiguration -n {namespace} {name}',
  },
  KernelOverdue: {
    meaning: 'The firmware fetched its boot script, and no kernel was loaded in time.',
    remedy:
      'Look at the console: does the machine reach the URL of the boot service, is the kernel one for its architecture?',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl describe serverbootconfiguration -n {namespace} {name}',
  },
  InitrdOverdue: {
    meaning: 'The kernel was loaded, and the initrd was not in time.',
    remedy: 'Look at the console: has the machine enough memory, does the connection break?',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl describe serverbootconfiguration -n {namespace} {name}',
  },
  UkiOverdue: {
    meaning: 'The server was powered on, and its firmware did not load the UKI in time.',
    remedy: 'Look at the console: does DHCP answer firmware that boots over HTTP, does the firmware do that at all?',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl describe serverbootconfiguration -n {namespace} {name}',
  },
  IgnitionOverdue: {
    meaning: 'Kernel and initrd were loaded, and the system did not fetch its ignition in time.',
    remedy:
      'Look at the console: did the kernel start, does it have a driver for the network card, did DHCP answer it?',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl describe serverbootconfiguration -n {namespace} {name}',
  },
  ProbeOverdue: {
    meaning: 'The discovery image was loaded, and its probe did not report in time.',
    remedy: 'Look at the console of the machine; does it reach the registry (--registry-url)?',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl describe serverbootconfiguration -n {namespace} {name}',
  },
  BootDataRefusedWhileOff: {
    meaning:
      'Somebody asked for the boot script of a machine that is off and that nobody asked the operator to start. Nothing was given.',
    remedy:
      'If the machine was started by hand, it gets its script as soon as the operator has seen that. Else find out who asked, by the address in the message, and keep tenants out of the boot network.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe serverbootconfiguration -n {namespace} {name}',
  },
  BootTokenUsedElsewhere: {
    meaning:
      'A boot is loaded by a client with one address, and another client asked for the same; that one was refused.',
    remedy:
      'Find out whose address it is. If both are the machine, or a proxy that sends requests on from changing addresses, name proxies in --trusted-proxies or start the operator with --bind-boot-tokens=false.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe serverbootconfiguration -n {namespace} {name}',
  },
  IPXEScriptDelivered: {
    meaning: 'The firmware of the machine fetched its boot script.',
    remedy:
      'Nothing; if no ignition follows, look at the console of the machine and at kernel and initrd of the image.',
    weight: 'working',
    actor: 'hardware',
  },
  IgnitionDataDelivered: {
    meaning: 'The booted system fetched its ignition.',
    remedy: 'Nothing; the machine is installing itself.',
    weight: 'working',
    actor: 'hardware',
  },
  BootStateReceived: {
    meaning: 'The booted system said that it is up.',
    remedy: 'Nothing; the boot is complete.',
    weight: 'ok',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;

export type BootServiceReason = keyof typeof bootServiceReasons;
