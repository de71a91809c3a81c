import CLibAV
public import HLSKitLoading
public import HLSKitMedia

extension VideoFrame {
    /// The part of the frame to show, in pixels and before rotation.
    ///
    /// It is the container's `clap`, or the whole frame if undeclared.
    public var cleanAperture: PixelRect {
        let geometry = PictureGeometry(self)
        let (size, crop) = (geometry.size(in: .encodedPixels), geometry.crop)
        return PixelRect(
            x: Double(crop.left), y: Double(crop.top), width: Double(size.width - crop.left - crop.right),
            height: Double(size.height - crop.top - crop.bottom))
    }

    /// The clockwise rotation to apply, in degrees: 0, 90, 180 or 270.
    ///
    /// The pixels themselves are not rotated.
    public var rotation: Int {
        UtilLibrary.installed.map { Int(CLibAV_frame_quarter_turns($0, storage.raw)) * 90 } ?? 0
    }

    /// The presentation size of ``cleanAperture``, in square pixels and after ``rotation``.
    ///
    /// It equals the item's `presentationSize`. Before the rotation, it has the coded height.
    public var presentationSize: PixelSize { PictureGeometry(self).presentationSize }

    /// The display on which HDR video was graded, as the stream or else the container declares it.
    ///
    /// It is `nil` if undeclared, and for frames converted to standard range.
    public var masteringDisplayColorVolume: MasteringDisplayColorVolume? {
        sideData(AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, as: AVMasteringDisplayMetadata.self)
            .map(MasteringDisplayColorVolume.init)
    }

    /// The light level of HDR video, as the stream or else the container declares it.
    ///
    /// It is `nil` if undeclared, and for frames converted to standard range.
    public var contentLightLevelInfo: ContentLightLevelInfo? {
        sideData(AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, as: AVContentLightMetadata.self).map {
            ContentLightLevelInfo(
                maximumContentLightLevel: Int($0.MaxCLL), maximumFrameAverageLightLevel: Int($0.MaxFALL))
        }
    }

    private func sideData<Value: BitwiseCopyable>(_ type: AVFrameSideDataType, as _: Value.Type) -> Value? {
        guard let data = av_frame_get_side_data(storage.raw, type)?.pointee, let bytes = data.data,
            data.size >= MemoryLayout<Value>.size
        else { return nil }
        return UnsafeRawPointer(bytes).loadUnaligned(as: Value.self)
    }
}

enum FrameNotes {
    /// Attaches the part to show, and leaves the frame whole.
    static func note(_ aperture: CleanAperture, in frame: UnsafeMutablePointer<AVFrame>) {
        let (width, height) = (Int(frame.pointee.width), Int(frame.pointee.height))
        guard let crop = PictureGeometry.crop(aperture, width: width, height: height) else { return }
        frame.pointee.crop_left = crop.left
        frame.pointee.crop_top = crop.top
        frame.pointee.crop_right = crop.right
        frame.pointee.crop_bottom = crop.bottom
    }

    /// Attaches the clockwise rotation in degrees.
    static func note(rotation: Int, in frame: UnsafeMutablePointer<AVFrame>) throws(CodecError) {
        try UtilLibrary.check()
        let turns = Int32(PictureGeometry.quarterTurns(degrees: rotation))
        let code = CLibAV_frame_set_quarter_turns(UtilLibrary.installed, frame, turns)
        guard code >= 0 else { throw CodecError(call: "av_frame_new_side_data", code: code) }
    }

    /// Attaches the grading of HDR video if the stream does not declare it.
    static func note(
        _ volume: MasteringDisplayColorVolume?, _ light: ContentLightLevelInfo?,
        in frame: UnsafeMutablePointer<AVFrame>
    ) {
        if let volume, av_frame_get_side_data(frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA) == nil {
            av_mastering_display_metadata_create_side_data(frame)?.pointee.set(volume)
        }
        if let light, av_frame_get_side_data(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL) == nil,
            let target = av_content_light_metadata_create_side_data(frame)
        {
            target.pointee.MaxCLL = UInt32(clamping: light.maximumContentLightLevel)
            target.pointee.MaxFALL = UInt32(clamping: light.maximumFrameAverageLightLevel)
        }
    }
}

extension MasteringDisplayColorVolume {
    init(_ data: AVMasteringDisplayMetadata) {
        func chromaticity(_ x: AVRational, _ y: AVRational) -> Chromaticity {
            Chromaticity(x: av_q2d(x), y: av_q2d(y))
        }
        let (red, green, blue) = data.display_primaries
        let (low, high) = (av_q2d(data.min_luminance), av_q2d(data.max_luminance))
        self.init(
            primaries: data.has_primaries == 0
                ? nil
                : Primaries(
                    red: chromaticity(red.0, red.1), green: chromaticity(green.0, green.1),
                    blue: chromaticity(blue.0, blue.1),
                    whitePoint: chromaticity(data.white_point.0, data.white_point.1)),
            luminance: data.has_luminance != 0 && low < high ? low...high : nil)
    }
}

extension AVMasteringDisplayMetadata {
    mutating func set(_ volume: MasteringDisplayColorVolume) {
        func rational(_ value: Double, _ unit: Int32) -> AVRational {
            let number = (value * Double(unit)).rounded()
            return AVRational(num: number.isNaN ? 0 : Int32(max(0, min(number, 2e9))), den: unit)
        }
        // The units of the messages in streams.
        func pair(_ value: MasteringDisplayColorVolume.Chromaticity) -> (AVRational, AVRational) {
            (rational(value.x, 50_000), rational(value.y, 50_000))
        }
        if let primaries = volume.primaries {
            display_primaries = (pair(primaries.red), pair(primaries.green), pair(primaries.blue))
            white_point = pair(primaries.whitePoint)
            has_primaries = 1
        }
        if let luminance = volume.luminance {
            min_luminance = rational(luminance.lowerBound, 10_000)
            max_luminance = rational(luminance.upperBound, 10_000)
            has_luminance = 1
        }
    }
}
