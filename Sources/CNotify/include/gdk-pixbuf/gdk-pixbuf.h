// SPDX-License-Identifier: Apache-2.0
// All that libnotify's header needs of gdk-pixbuf, whose own pkg-config file would link it and its decoders of pictures.
#ifndef VEDETTE_GDK_PIXBUF_H
#define VEDETTE_GDK_PIXBUF_H

typedef struct _GdkPixbuf GdkPixbuf;

#endif
