import{a}from"./chunk-LZWHVBUY.js";import"./chunk-35OC7B2F.js";import"./chunk-W35E4DEV.js";import"./chunk-4ZMKAI4H.js";export{a as reader};
