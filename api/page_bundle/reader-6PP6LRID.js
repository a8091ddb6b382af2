import{a}from"./chunk-NDKNFK6F.js";import"./chunk-DQFRPNRE.js";import"./chunk-AVVEKQNO.js";import"./chunk-NT5GRETZ.js";export{a as reader};
