import{a,b}from"./chunk-T6IUSAFD.js";import"./chunk-I46IRH7Q.js";import"./chunk-6XSPTAQI.js";export{a as cardOf,b as fit};
