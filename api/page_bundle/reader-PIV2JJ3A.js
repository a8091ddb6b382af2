import{a}from"./chunk-NDFNQ3UE.js";import"./chunk-4XXPCGCB.js";import"./chunk-ON2XM2FK.js";import"./chunk-EUUAUWXC.js";export{a as reader};
