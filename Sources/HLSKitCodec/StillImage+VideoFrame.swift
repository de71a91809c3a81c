import CLibAV
public import HLSKitLoading

extension StillImage {
    /// Creates an image from a decoded frame.
    ///
    /// Colors are converted according to the frame's own tags. A frame with an unspecified matrix is treated as BT.709
    /// from 720 rows on, and as BT.601 below.
    ///
    /// This initializer blocks the thread for some milliseconds while libswscale works.
    ///
    /// - Parameters:
    ///   - frame: A frame of any pixel format.
    ///   - maximumSize: The size into which the image must fit. It keeps its aspect ratio and is never enlarged. A side
    ///     of 0 (the default) sets no limit. The size applies to the rotated image.
    ///   - apertureMode: The part of the frame and the shape of the pixels. The default is the clean aperture in square
    ///     pixels.
    ///   - dynamicRangePolicy: The conversion of high dynamic range. By default it is mapped to standard range.
    ///   - appliesPreferredTransform: Whether to apply ``VideoFrame/rotation``. The default is `false`.
    /// - Throws: An error if there is no conversion.
    public init(
        _ frame: VideoFrame, maximumSize: PixelSize = PixelSize(width: 0, height: 0),
        apertureMode: ImageApertureMode = .cleanAperture, dynamicRangePolicy: DynamicRangePolicy = .forceSDR,
        appliesPreferredTransform: Bool = false
    ) throws(HLSError) {
        self = try HLSError.converting { () throws(CodecError) in
            try StillImage(
                converting: frame, maximumSize: maximumSize, apertureMode: apertureMode,
                dynamicRangePolicy: dynamicRangePolicy, appliesPreferredTransform: appliesPreferredTransform)
        }
    }

    /// Like the public initializer, but throws the library's own error.
    package init(
        converting frame: VideoFrame, maximumSize: PixelSize, apertureMode: ImageApertureMode,
        dynamicRangePolicy: DynamicRangePolicy, appliesPreferredTransform: Bool
    ) throws(CodecError) {
        let geometry = PictureGeometry(frame)
        let quarterTurns = appliesPreferredTransform ? geometry.quarterTurns : 0
        var frame = frame
        if dynamicRangePolicy == .forceSDR, !frame.colorTags.isStandardRange {
            do throws(CodecError) {
                frame = try ColorTransformer().transform(frame)
            } catch {
                throw CodecError(
                    call: error.call, code: error.code,
                    text: "high dynamic range cannot be mapped to the standard one: \(error.text)")
            }
        }
        let size = geometry.size(in: apertureMode).fitted(into: maximumSize.turned(byQuarters: quarterTurns))
        let image = try ImageScaler.image(
            of: frame, width: size.width, height: size.height, isCropped: apertureMode == .cleanAperture)
        self = image.turned(byQuarters: quarterTurns)
    }
}

enum ImageScaler {
    /// More precise than playback can afford.
    private static let flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT

    /// Code points of `MatrixCoefficients` in H.273.
    private enum Matrix {
        static let bt709: Int32 = 1
        static let bt601: Int32 = 5
    }

    static func image(
        of frame: VideoFrame, width: Int, height: Int, isCropped: Bool
    ) throws(CodecError) -> StillImage {
        var source = av_frame_clone(frame.storage.raw)
        defer { av_frame_free(&source) }
        guard let source else { throw CodecError(call: "av_frame_clone", code: CodecError.outOfMemory) }
        if isCropped {
            // This moves the pointers only. The pixels are shared.
            let code = av_frame_apply_cropping(source, Int32(clamping: AV_FRAME_CROP_UNALIGNED))
            guard code >= 0 else { throw CodecError(call: "av_frame_apply_cropping", code: code) }
        }
        let target = try avFrame(width: width, height: height, format: AV_PIX_FMT_RGBA)
        defer { free(target) }
        let isFullRange = frame.colorTags.isFullRange == true || frame.pixelFormatName.hasPrefix("yuvj")
        try scale(
            source, from: frame.pixelFormat, matrix: matrix(of: frame), isFullRange: isFullRange, to: target,
            matrix: Matrix.bt709, isFullRange: true)
        let rowByteCount = width * 4
        let distance = Int(CLibAV_frame_linesize(target, 0))
        guard let base = CLibAV_frame_data(target, 0), distance >= rowByteCount else {
            throw CodecError(call: "av_frame_get_buffer", code: CodecError.outOfMemory)
        }
        let pixels = [UInt8](unsafeUninitializedCapacity: rowByteCount * height) { buffer, count in
            for row in 0..<height {
                let bytes = UnsafeRawBufferPointer(start: base + row * distance, count: rowByteCount)
                UnsafeMutableRawBufferPointer(buffer).baseAddress?.advanced(by: row * rowByteCount)
                    .copyMemory(from: bytes.baseAddress ?? UnsafeRawPointer(base), byteCount: rowByteCount)
            }
            count = rowByteCount * height
        }
        let image = StillImage(
            width: width, height: height, pixels: pixels, colorPrimaries: frame.colorTags.colorPrimaries,
            transferFunction: frame.colorTags.transferFunction)
        guard let image else {
            throw CodecError(
                call: "sws_scale", code: CodecError.invalidArgument, text: "an image of \(width)x\(height)")
        }
        return image
    }

    /// Converts `image` to an encoder's format: YUV as in JPEG files (BT.601, full range), or RGB. The caller frees it.
    static func avFrame(
        of image: StillImage, format: AVPixelFormat
    ) throws(CodecError) -> UnsafeMutablePointer<AVFrame> {
        let target = try avFrame(width: image.width, height: image.height, format: format)
        let source = try avFrame(width: image.width, height: image.height, format: AV_PIX_FMT_RGBA)
        defer { free(source) }
        let distance = Int(CLibAV_frame_linesize(source, 0))
        let rowByteCount = image.width * 4
        image.pixels.withUnsafeBytes { pixels in
            guard let base = pixels.baseAddress, let rows = CLibAV_frame_data(source, 0) else { return }
            for row in 0..<image.height {
                UnsafeMutableRawPointer(rows + row * distance)
                    .copyMemory(from: base + row * rowByteCount, byteCount: rowByteCount)
            }
        }
        do throws(CodecError) {
            try scale(
                source, from: AV_PIX_FMT_RGBA, matrix: Matrix.bt601, isFullRange: true, to: target,
                matrix: Matrix.bt601, isFullRange: true)
        } catch {
            free(target)
            throw error
        }
        return target
    }

    static func free(_ frame: UnsafeMutablePointer<AVFrame>) {
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&frame)
    }

    private static func avFrame(
        width: Int, height: Int, format: AVPixelFormat
    ) throws(CodecError) -> UnsafeMutablePointer<AVFrame> {
        guard let frame = av_frame_alloc() else {
            throw CodecError(call: "av_frame_alloc", code: CodecError.outOfMemory)
        }
        frame.pointee.width = Int32(clamping: width)
        frame.pointee.height = Int32(clamping: height)
        frame.pointee.format = format.rawValue
        let code = av_frame_get_buffer(frame, 0)
        guard code >= 0 else {
            free(frame)
            throw CodecError(call: "av_frame_get_buffer", code: code)
        }
        return frame
    }

    private static func scale(
        _ source: UnsafeMutablePointer<AVFrame>, from format: AVPixelFormat, matrix: Int32, isFullRange: Bool,
        to target: UnsafeMutablePointer<AVFrame>, matrix targetMatrix: Int32, isFullRange isTargetFullRange: Bool
    ) throws(CodecError) {
        try ScaleLibrary.check()
        LibAVLog.silence
        let scaler = sws_getContext(
            source.pointee.width, source.pointee.height, format, target.pointee.width, target.pointee.height,
            AVPixelFormat(target.pointee.format), flags, nil, nil, nil)
        guard let scaler else {
            throw CodecError(
                call: "sws_getContext", code: CodecError.invalidArgument,
                text: "no conversion from \(source.pointee.width)x\(source.pointee.height)")
        }
        defer { sws_freeContext(scaler) }
        let unity: Int32 = 1 << 16
        sws_setColorspaceDetails(
            scaler, sws_getCoefficients(matrix), isFullRange ? 1 : 0, sws_getCoefficients(targetMatrix),
            isTargetFullRange ? 1 : 0, 0, unity, unity)
        let planes = UnsafeRawPointer(CLibAV_frame_planes(source)).assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
        let code = sws_scale(
            scaler, planes, CLibAV_frame_linesizes(source), 0, source.pointee.height, CLibAV_frame_planes(target),
            CLibAV_frame_linesizes(target))
        guard code >= 0 else { throw CodecError(call: "sws_scale", code: code) }
    }

    private static func matrix(of frame: VideoFrame) -> Int32 {
        let tag = frame.colorTags.matrix
        guard tag == 2 || tag == 0 || tag == 3 else { return Int32(clamping: tag) }
        // The same default as in televisions for streams without a declaration.
        return frame.height >= 720 ? Matrix.bt709 : Matrix.bt601
    }
}
