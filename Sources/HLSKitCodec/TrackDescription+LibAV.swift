import CLibAV
import HLSKitMedia

/// A decoder configuration in memory that libavcodec will own, with the padding for its readers.
struct ExtraData {
    let bytes: UnsafeMutablePointer<UInt8>
    let byteCount: Int32

    init?(_ configuration: [UInt8]) throws(CodecError) {
        guard !configuration.isEmpty else { return nil }
        guard let size = Int32(exactly: configuration.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)),
            let memory = av_mallocz(Int(size))
        else {
            throw CodecError(call: "av_mallocz", code: CodecError.outOfMemory)
        }
        configuration.withUnsafeBytes { source in
            if let base = source.baseAddress { memory.copyMemory(from: base, byteCount: source.count) }
        }
        bytes = memory.assumingMemoryBound(to: UInt8.self)
        byteCount = size - AV_INPUT_BUFFER_PADDING_SIZE
    }
}

/// Colour in libavutil's values, which equal those in ITU-T H.273. Values that libavutil does not have are unspecified.
struct LibAVColor {
    let primaries: AVColorPrimaries
    let transfer: AVColorTransferCharacteristic
    let matrix: AVColorSpace
    let range: AVColorRange?

    init(_ color: ColorInformation) {
        func codePoint(_ value: Int) -> UInt32 { UInt32(exactly: value).flatMap { $0 <= 255 ? $0 : nil } ?? 2 }
        primaries = AVColorPrimaries(codePoint(color.colorPrimaries))
        transfer = AVColorTransferCharacteristic(codePoint(color.transferCharacteristics))
        matrix = AVColorSpace(codePoint(color.matrixCoefficients))
        range = color.isFullRange.map { $0 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG }
    }
}
