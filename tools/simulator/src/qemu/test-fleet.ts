import { startFleet } from '../fleet.ts';

/** A fleet of one machine that boots from BOOT-URL, for tests that kill its process. */
const fleet = await startFleet({ bootUrl: process.argv[2] });
const { machine } = await fleet.add({ machine: 'qemu' });
machine.override = { target: 'Pxe', isOnce: false, httpUri: undefined };
machine.turnOn();
// Runs until it is killed.
setInterval(() => {}, 60_000);
