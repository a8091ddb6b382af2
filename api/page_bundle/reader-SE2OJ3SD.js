import{a}from"./chunk-XI5GYV4S.js";import"./chunk-ZFZHPFZZ.js";import"./chunk-4N44B3ZK.js";import"./chunk-G6ZXQPNZ.js";import"./chunk-62FWNRF3.js";import"./chunk-CZ27WBYC.js";export{a as reader};
