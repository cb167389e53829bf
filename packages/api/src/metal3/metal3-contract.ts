/** Annotations of Metal3 that people and programs set. They do not change. */
export const pausedAnnotation = 'baremetalhost.metal3.io/paused';
export const detachedAnnotation = 'baremetalhost.metal3.io/detached';
export const statusAnnotation = 'baremetalhost.metal3.io/status';
/** Alone, or followed by a slash and the name of the client. */
export const rebootAnnotation = 'reboot.metal3.io';
export const inspectAnnotation = 'inspect.metal3.io';
export const hardwareDetailsAnnotation = 'inspect.metal3.io/hardwaredetails';
