import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork
import Testing

/// The vectors come from an independent encryptor on top of `openssl enc`.
@Suite("Encryption of single samples")
struct SampleDecryptorTests {
    private static let key = (0..<16).map { UInt8($0) }
    private static let vector = (100..<116).map { UInt8($0) }

    private static func clear(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) } }

    private static func sample(_ bytes: [UInt8], _ encryption: SampleEncryption?) -> MediaSample {
        MediaSample(trackID: 1, pts: 5, dts: 4, isSync: true, data: SampleData(bytes), encryption: encryption)
    }

    private static func decrypt(
        _ bytes: [UInt8], _ encryption: SampleEncryption?, codec: MediaCodec = .h264, key: [UInt8] = key
    ) throws -> [UInt8] {
        var decryptor = try SampleDecryptor(key: key, initializationVector: vector)
        let clear = try decryptor.decrypt(sample(bytes, encryption), codec: codec)
        #expect(clear.encryption == nil)
        #expect(clear.pts == 5 && clear.dts == 4 && clear.isSync)
        return clear.data.withUnsafeBytes { Array($0) }
    }

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var encryption: SampleEncryption
        var cipherText: String
    }

    private static func common(
        _ scheme: EncryptionScheme, _ vector: [UInt8] = vector, _ subsamples: [(Int, Int)] = [],
        pattern: (Int, Int) = (0, 0)
    ) -> SampleEncryption {
        SampleEncryption(
            scheme: scheme, keyID: [], initializationVector: vector,
            subsamples: subsamples.map { .init(clearByteCount: $0.0, protectedByteCount: $0.1) },
            cryptByteBlock: pattern.0, skipByteBlock: pattern.1)
    }

    static let cases = [
        Case(
            testDescription: "cbcs, one block in ten, each subsample a chain of its own",
            encryption: common(.cbcs, vector, [(10, 200), (5, 40)], pattern: (1, 9)),
            cipherText: """
                030a11181f262d343b42c3e37c92df1f43a30ace48f1470882e4b9c0c7ced5dce3eaf1f8ff060d141b222930373e454c535a6168
                6f767d848b9299a0a7aeb5bcc3cad1d8dfe6edf4fb020910171e252c333a41484f565d646b727980878e959ca3aab1b8bfc6cdd4
                dbe2e9f0f7fe050c131a21282f363d444b525960676e757c838a91989fa6adb4bbc2c9d0d7dee5ecf3fa01080f161d242b323940
                474e555c636a71787f868d949ba21e6ff77e19efb6943318a982656490d31920272e353c434a51585f666d747b828990979ea5ac
                b3bac1c8cfd6dd7c03489c2b23999f4208a6001274eabd545b626970777e858c939aa1a8afb6bdc4cbd2d9e0e7eef5
                """),
        Case(
            testDescription: "cbcs, a whole sample",
            encryption: common(.cbcs),
            cipherText: """
                f92326b52c4b767d202ce2d6008b083f4dfabf994bcf84cb0989d3031e2afb027baf34787ba338c436ad5c502966d15ba5c0e9fa
                b63ee91f39d6f337cad712edc3cad1d8dfe6
                """),
        Case(
            testDescription: "cbc1, one chain over the subsamples",
            encryption: common(.cbc1, vector, [(8, 32), (4, 48)]),
            cipherText: """
                030a11181f262d34f79b1b6056b5f0e33b161f130a2f31d019f6449a4ea081f43f503982d10538b01b22293085a8bcd0259cfd3b
                ba14e0542da89e5b4ad1df412bd5ec494fba1fccfb3cb635e8ccb169c14af9ba8e0e88108f654d69
                """),
        Case(
            testDescription: "cenc, the counter goes on over subsamples and within blocks",
            encryption: common(.cenc, (50..<58).map { UInt8($0) }, [(3, 21), (7, 50)]),
            cipherText: """
                030a11a931289ead8e175f2a84f3b83a7f0ac73180c0c57cabb2b9c0c7ced588d04d9eba7de40eb2c3667fd221eeca3dd76543b4
                40c5f3ecae45591fa4167b0c569da96a321e624009ec58358cab324cf8
                """),
        Case(
            testDescription: "cens, every other block",
            encryption: common(.cens, pattern: (1, 1)),
            cipherText: """
                9db57f84a23ac34c36455cd8c6bbe1f7737a81888f969da4abb2b9c0c7ced5dc8f65913fa126edcd30931d3857c7fa16535a6168
                6f767d848b9299a0a7aeb5bcc3cad1d8dfe6
                """),
    ]

    @Test("N02: common encryption is decrypted", arguments: cases)
    func commonEncryption(_ test: Case) throws {
        let bytes = AES128DecryptorTests.bytes(test.cipherText)
        #expect(try Self.decrypt(bytes, test.encryption) == Self.clear(bytes.count))
    }

    @Test("clear samples are unchanged: no encryption, or no vector for the sample")
    func clearSamples() throws {
        #expect(try Self.decrypt(Self.clear(40), nil) == Self.clear(40))
        #expect(try Self.decrypt(Self.clear(40), Self.common(.cbcs, [])) == Self.clear(40))
    }

    @Test("N02: an audio frame's first 16 bytes and last partial block are clear", arguments: [MediaCodec.aac, .ac3])
    func audioFrame(_ codec: MediaCodec) throws {
        let bytes = AES128DecryptorTests.bytes(
            """
            030a11181f262d343b424950575e656cafee3015d74e6f2c0f3fb90075610145fd62b545eca0c25b9d124d2d4811efbd535a61
            """)
        #expect(try Self.decrypt(bytes, .elementaryStream, codec: codec) == Self.clear(51))
    }

    @Test(
        "N02: H.264: one block in ten from byte 32 on, under emulation prevention; other units stay")
    func slices() throws {
        let bytes = AES128DecryptorTests.bytes(
            """
            000000016742001e80000001650000030301000003030002030a11181f262d343b424950575e656c737a81888f96a38b7fb7fb24
            392deed3777e9386609e0d141b222930373e454c535a61680000030300000303000199a0a7aeb5bcc3cad1d8dfe6edf4fb020910
            171e252c333a41484f565d646b727980878e959ca3aab1b8bfc6cdd4dbe2e9f0f7fe050c131a21282f363d444b525960676e757c
            838a91989fa6adb4bbc2c9d0d7dee5ecf3fa01080f161d242b323940474e555c636a71787f868d949ba2a9b0b7bec5ccd3dae1e8
            a6efb2010f6b7ca45780868d8f38f21a5f666d747b828990979ea5acb3bac1800000000141030a11181f262d343b424950575e65
            6c737a81888f969da4abb2b9c0c7ced5dce3eaf1f8ff060d14
            """)
        let clear = AES128DecryptorTests.bytes(
            """
            000000016742001e8000000165000003010000030002030a11181f262d343b424950575e656c737a81888f969da4abb2b9c0c7ce
            d5dce3eaf1f8ff060d141b222930373e454c535a6168000003000003000199a0a7aeb5bcc3cad1d8dfe6edf4fb020910171e252c
            333a41484f565d646b727980878e959ca3aab1b8bfc6cdd4dbe2e9f0f7fe050c131a21282f363d444b525960676e757c838a9198
            9fa6adb4bbc2c9d0d7dee5ecf3fa01080f161d242b323940474e555c636a71787f868d949ba2a9b0b7bec5ccd3dae1e8eff6fd04
            0b121920272e353c434a51585f666d747b828990979ea5acb3bac1800000000141030a11181f262d343b424950575e656c737a81
            888f969da4abb2b9c0c7ced5dce3eaf1f8ff060d14
            """)
        #expect(try Self.decrypt(bytes, .elementaryStream) == clear)
    }

    @Test("subsamples past the sample, wrong vector or key sizes and unknown schemes are errors")
    func errors() {
        func code(_ encryption: SampleEncryption, key: [UInt8] = Self.key) -> DecryptionError.Code? {
            do {
                _ = try Self.decrypt(Self.clear(64), encryption, key: key)
                return nil
            } catch {
                return (error as? DecryptionError)?.code
            }
        }
        #expect(code(Self.common(.cenc, Self.vector, [(10, 55)])) == .badSample)
        #expect(code(Self.common(.cbcs, [1, 2, 3])) == .badKeyLength)
        #expect(code(Self.common(.cbcs), key: [1]) == .badKeyLength)
        #expect(code(Self.common(EncryptionScheme(rawValue: "piff"))) == .badSample)
    }

    @Test("random bytes instead of units or frames do not trap", arguments: 0..<200)
    func noise(_ seed: Int) throws {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        let bytes = (0..<seed * 3).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 60 < 6 ? 0 : state >> 60 < 9 ? 1 : UInt8(truncatingIfNeeded: state >> 33)
        }
        for codec in [MediaCodec.h264, .aac, .ac3, .eac3] {
            _ = try Self.decrypt(bytes, .elementaryStream, codec: codec)
        }
    }
}
