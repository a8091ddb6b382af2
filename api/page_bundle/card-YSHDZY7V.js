import{a,b}from"./chunk-WS2HTMRK.js";import"./chunk-I46IRH7Q.js";import"./chunk-AXFYHYUV.js";import"./chunk-WOT6VMZA.js";export{a as cardOf,b as fit};
