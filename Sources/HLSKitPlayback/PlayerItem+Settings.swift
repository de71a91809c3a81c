public import HLSKitEngine
public import HLSKitLoading
public import HLSKitSelection

/// The playback settings of an item: variants, renditions, start, end, buffering and live behavior.
///
/// You can change settings at any time from any thread. The player reads them for each decision, so a change takes
/// effect at the next segment unless documented otherwise. A ``copy()`` has the same settings.
extension PlayerItem {
    // MARK: Buffering

    /// The amount of media to keep loaded ahead of the playhead, from one target duration to a day.
    ///
    /// If the value is `nil` (the default) or not above zero, ``BufferingConfiguration/forwardDuration`` applies.
    public var preferredForwardBufferDuration: Duration? {
        get { preferences.preferredForwardBufferDuration }
        set { changePreferences { $0.preferredForwardBufferDuration = newValue } }
    }

    // MARK: Variants

    /// The bit rate limit for variants, in bits per second.
    ///
    /// The player ignores variants above the limit as long as others are available. If the value is `nil` (the default)
    /// or not above zero, there is no limit.
    public var preferredPeakBitRate: Double? {
        get { preferences.preferredPeakBitRate }
        set { changePreferences { $0.preferredPeakBitRate = newValue } }
    }

    /// An additional ``preferredPeakBitRate`` for expensive networks.
    ///
    /// It applies together with the other limit while ``NetworkConditions/isExpensive`` is `true`.
    public var preferredPeakBitRateForExpensiveNetworks: Double? {
        get { preferences.preferredPeakBitRateForExpensiveNetworks }
        set { changePreferences { $0.preferredPeakBitRateForExpensiveNetworks = newValue } }
    }

    /// The video size limit for variants, in pixels.
    ///
    /// The player ignores larger variants as long as others are available. The default, `nil`, sets no limit.
    public var preferredMaximumResolution: PixelSize? {
        get { preferences.preferredMaximumResolution }
        set { changePreferences { $0.preferredMaximumResolution = newValue } }
    }

    /// An additional ``preferredMaximumResolution`` for expensive networks.
    ///
    /// It applies together with the other limit while ``NetworkConditions/isExpensive`` is `true`.
    public var preferredMaximumResolutionForExpensiveNetworks: PixelSize? {
        get { preferences.preferredMaximumResolutionForExpensiveNetworks }
        set { changePreferences { $0.preferredMaximumResolutionForExpensiveNetworks = newValue } }
    }

    /// The size at which the video is shown, in pixels (points × scale).
    ///
    /// The player ignores variants larger than this size requires. If a ``VideoOutput`` of the item has a size, the
    /// largest one applies instead. The default, `nil`, sets no limit.
    public var displaySize: PixelSize? {
        get { preferences.displaySize }
        set { changePreferences { $0.displaySize = newValue } }
    }

    /// A Boolean value that indicates whether playback starts on the first eligible variant.
    ///
    /// If `true`, the player uses the first eligible variant in the playlist, even if it has network measurements. The
    /// default is `false`.
    public var startsOnFirstEligibleVariant: Bool {
        get { preferences.startsOnFirstEligibleVariant }
        set { changePreferences { $0.startsOnFirstEligibleVariant = newValue } }
    }

    /// The kinds of variants that the player uses only on request.
    ///
    /// The default is an empty set.
    public var variantPreferences: VariantPreferences {
        get { preferences.variantPreferences }
        set { changePreferences { $0.variantPreferences = newValue } }
    }

    /// The policy that selects the variant.
    ///
    /// By default, the player's variant selector decides.
    public var variantPolicy: VariantPolicy {
        get { preferences.variantPolicy }
        set { changePreferences { $0.variantPolicy = newValue } }
    }

    /// An expression that limits the variants that the player may use, or `nil` (the default) for no limit.
    public var quality: QualityExpression? {
        get { preferences.quality }
        set {
            // Evaluate the app's conditions here, because the player decides while it holds a lock.
            newValue?.judge(attachedCore?.read(of: self) { $0.item?.candidates } ?? [])
            changePreferences { $0.quality = newValue }
        }
    }

    // MARK: Renditions

    /// An expression that selects the audio rendition if no option is selected with ``select(_:in:)``.
    ///
    /// The expression must be about renditions, such as `QualityExpression(parsing: "lang=en", for: .renditions)`. If
    /// it is `nil` (the default), `DEFAULT` and `AUTOSELECT` decide.
    ///
    /// If no rendition matches, the item fails with ``HLSError/Code/noEligibleVariant``. The error's
    /// ``HLSError/underlyingError`` is ``HLSError/Code/noMatchingRendition``. Use
    /// ``Player/setMediaSelectionCriteria(_:for:)`` for a preference that is not required.
    public var audio: QualityExpression? {
        get { preferences.audio }
        set { changePreferences { $0.audio = newValue } }
    }

    /// An expression that selects the subtitle rendition if no option is selected with ``select(_:in:)``.
    ///
    /// If it is `nil` (the default), the player loads no subtitles. If no rendition matches, the item fails as for
    /// ``audio``.
    public var subtitles: QualityExpression? {
        get { preferences.subtitles }
        set { changePreferences { $0.subtitles = newValue } }
    }

    /// An expression that selects the video rendition if no option is selected with ``select(_:in:)``.
    ///
    /// Video renditions are alternatives of a variant's video, such as other camera angles. If the expression is `nil`
    /// (the default), `DEFAULT` and `AUTOSELECT` decide. If no rendition matches, the item fails as for ``audio``.
    public var video: QualityExpression? {
        get { preferences.video }
        set { changePreferences { $0.video = newValue } }
    }

    // MARK: Start and end

    /// The position where playback starts.
    ///
    /// By default, this is the position that the playlist specifies. Otherwise, it is the beginning, or a position near
    /// the edge of a live stream. The property is read when the item is loaded.
    public var startPosition: StartPosition {
        get { preferences.startPosition }
        set { changePreferences { $0.startPosition = newValue } }
    }

    /// The position where playback ends.
    ///
    /// The default is the end of the media. The property is read when the first playlist is loaded. You can change
    /// ``forwardPlaybackEndTime`` later.
    public var endPosition: EndPosition {
        get { preferences.endPosition }
        set { changePreferences { $0.endPosition = newValue } }
    }

    // MARK: Live

    /// The action to take if a live stream stops updating.
    ///
    /// The default is ``StalePolicy/fail``.
    public var stalePolicy: StalePolicy {
        get { preferences.stalePolicy }
        set { changePreferences { $0.stalePolicy = newValue } }
    }

    /// The time that a live playlist may go without new media before ``stalePolicy`` applies.
    ///
    /// The default, `nil`, is 60 seconds or 10.5 target durations, whichever is longer. A longer time also applies to a
    /// playlist that cannot be loaded.
    public var staleLimit: Duration? {
        get { preferences.staleLimit }
        set { changePreferences { $0.staleLimit = newValue } }
    }

    /// The action to take if the live window moves past the item's position.
    ///
    /// The default is ``FellBehindPolicy/jumpToEdge``. If outputs take media as fast as it arrives (recorders), that
    /// policy also continues with the oldest segment. ``PlayerEvent/Kind/segmentsMissed(_:)`` and the error log report
    /// the lost media. Media lost while the player is paused is reported when playback resumes.
    public var fellBehindPolicy: FellBehindPolicy {
        get { preferences.fellBehindPolicy }
        set { changePreferences { $0.fellBehindPolicy = newValue } }
    }
}
