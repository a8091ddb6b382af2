import{a}from"./chunk-ENGIBKNX.js";import"./chunk-ATAMF3D3.js";import"./chunk-UON5FQID.js";import"./chunk-FKEL745R.js";export{a as reader};
