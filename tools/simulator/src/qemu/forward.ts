import { connect } from 'node:net';

/** Started by QEMU for each connection of an isolated guest: forwards it to HOST PORT. */
const [host = '127.0.0.1', port = '0'] = process.argv.slice(2);
const socket = connect(Number(port), host.replace(/^\[|\]$/g, ''));
process.stdin.pipe(socket).pipe(process.stdout);
for (const end of [socket, process.stdin, process.stdout]) end.on('error', () => process.exit());
socket.on('close', () => process.exit());
